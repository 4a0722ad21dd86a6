import { createServer, type Server } from 'node:http';
import { decodeBase64url, legsText, parseLegsTarget } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { generateSigningKey } from '../keys/signing-key.ts';
import { closeServer, listenOnLoopback } from '../testing/listening-depot.ts';
import { LegAsker } from './leg-asker.ts';

const signingKey = generateSigningKey();
const LEGS = [{ peer: 'client', connections: 1, rttMs: 5, sentBps: 9e6, receivedBps: 10 }];
let server: Server;
let asker: LegAsker;

/** A depot d1 that answers with this, to questions that are signed for it. */
async function setUp(answer: string | undefined, status = 200): Promise<void> {
  server = createServer((request, response) => {
    const question = parseLegsTarget(request.url ?? '');
    if (!question.ok) throw question.error;
    const text = Buffer.from(legsText('d1', question.value));
    const isMasters = signingKey.verify(text, decodeBase64url(question.value.signature) ?? new Uint8Array());
    if (answer === undefined) response.socket?.destroy();
    else response.writeHead(isMasters ? status : 500).end(answer);
  });
  const port = await listenOnLoopback(server);
  asker = new LegAsker({
    signer: { current: signingKey },
    registry: {
      record: (id) =>
        id === 'gone' ? undefined : { id, publicKey: '', host: 'depot.example', port, tls: false },
      provedAddress: (id) => (id === 'unproved' ? undefined : '127.0.0.1'),
    },
    now: () => 1_795_000_000_000,
  });
}

afterEach(async () => {
  asker.close();
  await closeServer(server);
});

test('a depot tells of its legs by a question that is signed for it', async () => {
  await setUp(JSON.stringify({ id: 'd1', legs: LEGS }));
  expect(await asker.ask('d1', 'job-1')).toEqual(LEGS);
  expect(await asker.ask('d2', 'job-1')).toBeUndefined();
  expect(await asker.ask('gone', 'job-1')).toBeUndefined();
  expect(await asker.ask('unproved', 'job-1')).toBeUndefined();
});

test.each([
  ['of an older version', 'what?', 400],
  ['that answers for another one', JSON.stringify({ id: 'd9', legs: LEGS }), 200],
  ['that tells nonsense', JSON.stringify({ id: 'd1', legs: [{ ...LEGS[0], sentBps: -1 }] }), 200],
  ['that tells too much', JSON.stringify({ id: 'd1', legs: LEGS, more: 'x'.repeat(20_000) }), 200],
  ['that breaks off', undefined, 200],
])('a depot %s tells nothing', async (_what, answer, status) => {
  await setUp(answer, status);
  expect(await asker.ask('d1', 'job-1')).toBeUndefined();
});
