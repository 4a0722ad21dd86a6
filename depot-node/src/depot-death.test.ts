import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { type Death, type Saboteur, startSaboteur } from './testing/saboteur.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = randomBytes(4_000_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Where the origin stops in the file until it is let go; it then stops nobody any more. */
interface Stop {
  readonly atByte: number;
  held: number;
  readonly isOver: Promise<void>;
}

/** Sends a part of the file, and waits at the stop within it. */
function sendUpTo(request: IncomingMessage, response: ServerResponse, stop: Stop) {
  const { atByte, isOver } = stop;
  const [, from = '0', to] = /^bytes=([0-9]+)-([0-9]*)$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(from);
  const end = to ? Number(to) + 1 : FILE.length;
  response.writeHead(request.headers.range === undefined ? 200 : 206, {
    ETag: '"v1"',
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start,
    ...(request.headers.range === undefined
      ? {}
      : { 'Content-Range': `bytes ${start}-${end - 1}/${FILE.length}` }),
  });
  if (start >= atByte || atByte >= end) {
    response.end(FILE.subarray(start, end));
    return;
  }
  response.write(FILE.subarray(start, atByte), () => {
    stop.held += 1;
    // What is asked for again begins before the stop where its last bytes had not come on when the depot died.
    void isOver.then(() => response.end(FILE.subarray(atByte, end)));
  });
}

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  let overlay: TestOverlay;
  let stop: Stop;
  let saboteurs: Map<string, Saboteur>;

  beforeEach(async () => {
    saboteurs = new Map();
    overlay = await startTestOverlay([], (asked, answer) => sendUpTo(asked, answer, stop), splice);
    await overlay.addDepot('entry', {
      failover: { silenceSeconds: 0.5, patienceSeconds: 2 },
      lanes: { firstBlockBytes: 65_536, silenceSeconds: 0.5 },
    });
    for (const place of ['middle', 'last'] as const) {
      const saboteur = await startSaboteur();
      saboteurs.set(place, saboteur);
      await overlay.addDepot(place, {
        listen: { host: '127.0.0.1', port: saboteur.depotPort },
        public: { host: '127.0.0.1', port: saboteur.port },
      });
    }
    await overlay.addDepot('spare');
  });
  afterEach(async () => {
    await overlay.close();
    await Promise.all([...saboteurs.values()].map((saboteur) => saboteur.close()));
  });

  describe.each([1, 4])('a download over %i lanes', (lanes) => {
    describe.each(['middle', 'last'] as const)('whose %s depot', (place) => {
      test.each(
        (['fin', 'rst', 'silence'] as const).flatMap((death) =>
          [10, 50, 90].map((percent): [Death, number] => [death, percent]),
        ),
      )('dies by %s, with %i percent sent, goes on as one, byte for byte', async (death, percent) => {
        let letGo = () => {};
        const isOver = new Promise<void>((resolve) => {
          letGo = resolve;
        });
        stop = { atByte: Math.floor((FILE.length * percent) / 100), held: 0, isOver };
        const chains = [
          ['entry', 'middle', 'last'],
          ['entry', 'spare'],
        ];
        const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { chains, lanes }, 'entry');
        const asked = request(url, { agent: false }).end();
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        const digest = createHash('sha256');
        answer.on('data', (chunk: Buffer) => digest.update(chunk));
        const ended = once(answer, 'end');
        await expect.poll(() => stop.held).toBeGreaterThan(0);
        saboteurs.get(place)?.strike(death);
        letGo();
        await ended;
        expect(digest.digest('hex')).toBe(hash(FILE));
        expect(answer.statusCode).toBe(200);
        // A lane that hangs may lose its block to another one, or have it given back: what is sure is where
        // the rest came over.
        const wentOver = overlay.depot('entry').events.flatMap((event) => {
          if (event.type === 'failover') return [event.to];
          return event.type === 'lane-opened' ? [event.chain] : [];
        });
        expect(wentOver).toContainEqual(['entry', 'spare']);
      });
    });
  });
});
