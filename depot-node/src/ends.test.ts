import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  /** The origin's answer under way, held by the test. */
  let answers: ServerResponse[];
  let overlay: TestOverlay;
  beforeEach(async () => {
    answers = [];
    overlay = await startTestOverlay(
      ['d1', 'd2'],
      (_, response) => {
        answers.push(response);
        response.writeHead(200, { 'Content-Length': 10 });
        response.write('first');
      },
      splice,
    );
  });
  afterEach(() => overlay.close());

  async function beginDownload(): Promise<{ asked: ClientRequest; answer: IncomingMessage }> {
    const asked = request(overlay.relayUrl(`${overlay.originUrl}/held.bin`), { agent: false });
    asked.on('error', () => {});
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    return { asked, answer };
  }

  describe('a depot that is asked to stop', () => {
    test('lets a running download finish, and takes nothing new', async () => {
      const { answer } = await beginDownload();
      const closed = overlay.depot('d1').depot.close(30_000);
      const { url } = overlay.depot('d1');
      await expect(fetchRaw(`${url}/healthz`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      const rest = once(answer, 'data');
      const ended = once(answer, 'end');
      answers[0]?.end('final');
      expect(String((await rest)[0])).toBe('final');
      await ended;
      await closed;
      expect(answer.complete).toBe(true);
    });

    test('lets a tunnel of another depot finish as well', async () => {
      const { answer } = await beginDownload();
      const closed = overlay.depot('d2').depot.close(30_000);
      await expect(fetchRaw(`${overlay.depot('d2').url}/healthz`)).rejects.toMatchObject({
        code: 'ECONNREFUSED',
      });
      const ended = once(answer, 'end');
      answer.resume();
      answers[0]?.end('final');
      await ended;
      await closed;
      expect(answer.complete).toBe(true);
    });

    test('resets what is left when its time is over', async () => {
      const { answer } = await beginDownload();
      const broken = once(answer, 'error');
      await overlay.depot('d1').depot.close(10);
      expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
      expect(answer.complete).toBe(false);
    });
  });

  describe('a client that leaves', () => {
    test('frees its whole chain, up to the origin', async () => {
      const { asked } = await beginDownload();
      const originGone = once(answers[0] ?? asked, 'close');
      asked.destroy();
      await originGone;
      await expect
        .poll(() => overlay.depot('d1').events.at(-1))
        .toMatchObject({ type: 'transfer', outcome: 'client-left', bodyBytes: 5 });
      await expect
        .poll(() => overlay.depot('d2').events.at(-1))
        .toMatchObject({ type: 'tunnel', outcome: 'broke' });
    });
  });

  describe('clients that leave at any moment', () => {
    test('leave nothing behind, neither in depots nor at the origin', async () => {
      const leaving = Array.from({ length: 150 }, (_, index) => {
        const asked = request(overlay.relayUrl(`${overlay.originUrl}/held.bin`), { agent: false });
        asked.on('error', () => {});
        asked.on('response', (answer) => answer.on('error', () => {}));
        asked.end();
        return new Promise<void>((resolve) => {
          setTimeout(() => {
            asked.destroy();
            resolve();
          }, index % 50);
        });
      });
      await Promise.all(leaving);
      await expect.poll(() => overlay.originOpenConnections(), { timeout: 10_000 }).toBe(0);
      for (const id of ['d1', 'd2']) {
        const metrics = async () => (await fetchRaw(`${overlay.depot(id).url}/metrics`)).body.toString();
        await expect.poll(metrics, { timeout: 10_000 }).toMatch(/^longhaul_depot_active 0$/m);
      }
    });
  });

  describe('an origin that goes silent in the middle of a body', () => {
    test('is given up, and the client is reset', async () => {
      await overlay.addDepot('d9', {
        timeouts: { silenceSeconds: 0.2 },
        addresses: { allow: [{ network: '127.0.0.0/8', ports: [Number(new URL(overlay.originUrl).port)] }] },
      });
      const answer = await fetchRaw(
        overlay.relayUrl(`${overlay.originUrl}/held.bin`, { chains: [['d9']] }, 'd9'),
      );
      expect(answer).toMatchObject({ status: 200, broken: 'ECONNRESET' });
      expect(answer.body.toString()).toBe('first');
    });
  });
});
