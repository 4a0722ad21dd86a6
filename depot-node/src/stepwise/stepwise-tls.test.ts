import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { selfSigned } from '@longhaul/shared/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

const file = randomBytes(2_000_000);
const tls = selfSigned();

let overlay: TestOverlay;
beforeAll(async () => {
  overlay = await startTestOverlay(['d1', 'd2', 'd3'], (_, response) => response.end(file), undefined, {
    tls,
  });
});
afterAll(() => overlay.close());

/** Follows redirects; gives the body and all addresses. */
async function follow(first: string): Promise<{ body: Buffer; visited: string[] }> {
  const visited = [first];
  for (;;) {
    const url = visited.at(-1) ?? '';
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = url.startsWith('https:')
        ? requestHttps(url, { agent: false, ca: tls.cert })
        : requestHttp(url, { agent: false });
      asked.once('response', resolve).once('error', reject).end();
    });
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    if (answer.statusCode !== 302) return { body: Buffer.concat(chunks), visited };
    visited.push(answer.headers.location ?? '');
  }
}

test('depots with certificates lead clients and each other over https', async () => {
  const first = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { kind: 'stepwise' }, 'd3');
  const { body, visited } = await follow(first);
  expect(visited.map((url) => new URL(url).origin)).toEqual(
    ['d3', 'd2', 'd1'].map((id) => overlay.depot(id).url),
  );
  expect(visited.every((url) => url.startsWith('https://'))).toBe(true);
  expect(body.equals(file)).toBe(true);
  await expect
    .poll(() => overlay.depot('d2').events.find(({ type }) => type === 'handover'))
    .toMatchObject({ outcome: 'complete', role: 'middle' });
});
