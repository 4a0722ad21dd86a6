import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { selfSigned } from '@longhaul/shared/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSplicePlane, type SplicePlane } from './relay/splice-plane.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { listenAnywhere } from './testing/saboteur.ts';

const file = randomBytes(3_000_000);
const material = selfSigned();

const answer: RequestListener = ({ url = '' }, response) => {
  const body = file.subarray(0, Number(url.replace(/\D/g, '')));
  if (url.startsWith('/chunked')) {
    response.write(body.subarray(0, 10));
    response.end(body.subarray(10));
    return;
  }
  response.writeHead(200, { 'Content-Length': body.length, ETag: '"v1"' });
  // A part of it, and then nothing.
  if (url.startsWith('/stuck')) response.write(body.subarray(0, 1000));
  else response.end(body);
};

/** Who moves bytes and who ends TLS: Node, relay threads, or each of them one. */
async function planes(): Promise<[string, SplicePlane | undefined][]> {
  const opened = [await openSplicePlane(), await openSplicePlane({ tls: 'node' })];
  const names = ['relay threads', 'relay threads, with TLS by Node'];
  const spliced = opened.map((one, index): [string, SplicePlane | undefined] => [
    names[index] ?? '',
    one.ok ? one.plane : undefined,
  ]);
  return [['Node', undefined], ...spliced.filter(([, plane]) => plane !== undefined)];
}

describe.each(await planes())('with bytes moved by %s,', (_, splice) => {
  describe.each(['http', 'TLSv1.2', 'TLSv1.3'] as const)('over %s,', (scheme) => {
    let overlay: TestOverlay;
    let origin: ReturnType<typeof createHttpServer>;
    let originUrl: string;
    beforeAll(async () => {
      origin =
        scheme === 'http'
          ? createHttpServer(answer)
          : createHttpsServer({ ...material, maxVersion: scheme }, answer);
      const port = await listenAnywhere(origin);
      originUrl = `${scheme === 'http' ? 'http' : 'https'}://127.0.0.1:${port}`;
      const addresses = { allow: [{ network: '127.0.0.0/8', ports: [port] }] };
      overlay = await startTestOverlay([], () => {}, splice, {
        trusted: [material.cert],
        config: { addresses, failover: { tries: 0 } },
      });
      for (const id of ['d3', 'd2', 'd1']) await overlay.addDepot(id);
    });
    afterAll(async () => {
      await overlay.close();
      origin.close();
      origin.closeAllConnections();
    });

    const urlOf = (path: string) =>
      overlay.relayUrl(`${originUrl}/${path}`, { chains: [['d1', 'd2', 'd3']] }, 'd1');
    /** What the middle and the exit depot say of the one tunnel that they had. */
    const outcomes = () =>
      ['d2', 'd3'].map((id) =>
        overlay.depot(id).events.flatMap((event) => (event.type === 'tunnel' ? [event.outcome] : [])),
      );
    const forget = () => {
      for (const id of ['d2', 'd3']) overlay.depot(id).events.length = 0;
    };

    test.each(['whole-3000000', 'whole-10', 'chunked-300000'])(
      'a tunnel that brought all of %s is complete for every depot',
      async (path) => {
        forget();
        const { status, broken } = await fetchRaw(urlOf(path));
        expect({ status, broken }).toEqual({ status: 200, broken: undefined });
        await expect.poll(outcomes).toEqual([['complete'], ['complete']]);
      },
    );

    test('one whose client leaves in the middle is broken', async () => {
      forget();
      const asked = get(urlOf('stuck-1000000')).on('error', () => {});
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      await once(response, 'data');
      asked.destroy();
      await expect.poll(outcomes).toEqual([['broke'], ['broke']]);
    });
  });
});
