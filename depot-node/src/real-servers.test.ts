import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { missingProgram, SERVER_KINDS, startServer } from './testing/real-servers.ts';
import { type Death, freePort, type Saboteur, startSaboteur } from './testing/saboteur.ts';
import { testPlanes } from './testing/test-planes.ts';

const DEATHS: readonly Death[] = ['fin', 'rst', 'fin', 'rst'];
/** More than all buffers of a chain on one machine take. */
const FILE = randomBytes(30_000_000);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const FILE_HASH = hash(FILE);
const [, splice] = (await testPlanes()).at(-1) ?? [];

describe.each(SERVER_KINDS.map((kind) => ({ kind, missing: missingProgram(kind), name: kind.name })))(
  'a download from $name',
  ({ kind, missing }) => {
    const skips = missing !== undefined;
    let folder: string;
    let overlay: TestOverlay;
    let stop: (() => Promise<void>) | undefined;
    let port: number;
    const middles: Saboteur[] = [];
    let breaks = 0;

    beforeAll(async () => {
      if (skips) return;
      folder = mkdtempSync(join(tmpdir(), 'longhaul-server-'));
      mkdirSync(join(folder, 'run'));
      writeFileSync(join(folder, 'run', 'file.bin'), FILE);
      // Old enough for its date to be a strong validator.
      utimesSync(join(folder, 'run', 'file.bin'), 1_600_000_000, 1_600_000_000);
      const ports = [await freePort(), await freePort()] as const;
      [port] = ports;
      stop = await startServer(kind, join(folder, 'run'), ports);
      const networks = { addresses: { allow: [{ network: '127.0.0.0/8', ports: [port] }] } };
      overlay = await startTestOverlay([], () => {}, splice, { config: networks });
      // The entry depot comes last, so that it knows all others.
      for (const [index] of DEATHS.entries()) {
        const middle = await startSaboteur();
        middles.push(middle);
        await overlay.addDepot(`m${index}`, {
          listen: { host: '127.0.0.1', port: middle.depotPort },
          public: { host: '127.0.0.1', port: middle.port },
        });
      }
      await overlay.addDepot('spare');
      await overlay.addDepot('entry', { failover: { patienceSeconds: 0.3 } });
    });
    afterAll(async () => {
      await overlay?.close();
      await Promise.all(middles.map((middle) => middle.close()));
      await stop?.();
      if (!skips) rmSync(folder, { recursive: true, force: true });
    });

    test.skipIf(skips).each(DEATHS.map((death, index) => [index, death] as const))(
      'ends whole, as directly, when the depot in the middle dies at any byte: %i, %s',
      async (index, death) => {
        const id = `m${index}`;
        const url = `http://127.0.0.1:${port}/file.bin`;
        const direct = await fetchRaw(url);
        expect({ broken: direct.broken, hash: hash(direct.body) }).toEqual({
          broken: undefined,
          hash: FILE_HASH,
        });
        const chains = [
          ['entry', id],
          ['entry', 'spare'],
        ];
        overlay.depot('entry').events.length = 0;
        const diesAtByte = randomInt(FILE.length / 4);
        const asked = get(overlay.relayUrl(url, { chains }, 'entry'), { agent: false });
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        const digest = createHash('sha256');
        let bytes = 0;
        let isStruck = false;
        answer.on('data', (chunk: Buffer) => {
          digest.update(chunk);
          bytes += chunk.length;
          if (isStruck || bytes < diesAtByte) return;
          isStruck = true;
          middles[index]?.strike(death);
        });
        await once(answer, 'end');
        expect({ bytes, hash: digest.digest('hex') }).toEqual({ bytes: FILE.length, hash: FILE_HASH });
        const broke = overlay.depot('entry').events.filter(({ type }) => type === 'failover');
        breaks += broke.length;
      },
      60_000,
    );

    test.skipIf(skips)('has lost its way meanwhile, unless no depot was in the middle', () => {
      expect(breaks > 0).toBe(kind.isUnframed !== true);
    });
  },
);
