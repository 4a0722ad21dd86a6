import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { canonicalOriginUrl, hashOriginUrl, parseOriginUrl, type TicketClaims } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Identity } from '../identity.ts';
import { ProofMaker } from '../legs/caller-proof.ts';
import { askPredecessor } from './ask-predecessor.ts';
import { type Held, letGo } from './waiting-transfers.ts';

const NEVER = new AbortController().signal;
const parsed = parseOriginUrl('http://origin.example/f?q=%2F');
if (!parsed.ok) throw parsed.error;
const url = parsed.value;
const told = canonicalOriginUrl(url);
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const claims = {
  chains: [['d1', 'd2', 'd3']],
  urlHash: hashOriginUrl(url, sha256),
} as unknown as TicketClaims;

/** A predecessor that answers every request with the next of these texts, and remembers what it was asked. */
let server: Server;
let answers: string[];
let asked: string[];
let port: number;

beforeEach(async () => {
  answers = [];
  asked = [];
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      asked.push(chunk.toString('latin1'));
      socket.end(answers.shift() ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function ask(path = '/f', headers: Record<string, string> = {}): Promise<Held> {
  const identity = { id: 'd1', sign: () => 'signed' } as unknown as Identity;
  return askPredecessor(
    {
      overDepot: async (_id, _signal, use) => {
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
        await once(socket, 'connect');
        return use(socket);
      },
      proofs: new ProofMaker({ identity, macs: { with: () => undefined }, nowMs: () => 1000 }),
      plane: { timeouts: { answerMs: 5000, connectMs: 1000, silenceMs: 1000, stallMs: 1000 } },
    },
    { ticket: { text: 'TICKET', claims }, place: 0, wanted: { method: 'GET', path, headers } },
    NEVER,
  );
}

const answer = (status: string, headers: readonly string[]) =>
  `HTTP/1.1 ${status}\r\n${headers.map((header) => `${header}\r\n`).join('')}Content-Length: 2\r\n\r\nok`;

test("asks in the paper's form, with a proof and what the client wants of the file", async () => {
  answers = [answer('200 OK', [`Longhaul-Origin: ${told}`])];
  const held = await ask('/f', { range: 'bytes=5-' });
  expect(held).toMatchObject({ ok: true, url });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatch(/^GET \/f\?TICKET HTTP\/1\.1\r\n/);
  expect(asked[0]).toMatch(/^range: bytes=5-\r$/im);
  expect(asked[0]).toMatch(/^longhaul-proof: d1 1000 signed\r$/im);
  letGo(held);
});

test.each([
  ['tells no URL', answer('200 OK', []), '/f'],
  ['tells another URL', answer('200 OK', [`Longhaul-Origin: ${told}x`]), '/f'],
  ['tells the URL in another form', answer('200 OK', [`Longhaul-Origin: ${told.replace(':80', '')}`]), '/f'],
  ['tells a URL of another path', answer('200 OK', [`Longhaul-Origin: ${told}`]), '/g'],
  ['speaks no HTTP', 'nonsense\r\n\r\n', '/f'],
])('believes nothing of a neighbour that %s', async (_, text, path) => {
  answers = [text, text];
  expect(await ask(path)).toMatchObject({
    ok: false,
    url: undefined,
    error: { code: 'next-depot-unreachable' },
  });
});

test('takes the code of a refusal, the depot that it happened at, and the URL', async () => {
  const refusal = (code: string, depot: string) =>
    answer('503 No', [`Longhaul-Error: ${code}`, `Longhaul-Depot: ${depot}`, `Longhaul-Origin: ${told}`]);
  answers = [refusal('handover-missing', 'd3'), refusal('<b>', 'd1')];
  expect(await ask()).toMatchObject({ ok: false, url, error: { code: 'handover-missing', depot: 'd3' } });
  expect(await ask(), 'a neighbour cannot blame the caller, or invent codes').toMatchObject({
    ok: false,
    url,
    error: { code: 'next-depot-unreachable', depot: 'd2' },
  });
});

test('asks a neighbour that broke off once more: it still knows the URL', async () => {
  answers = ['', answer('503 No', ['Longhaul-Error: handover-missing', `Longhaul-Origin: ${told}`])];
  expect(await ask()).toMatchObject({ ok: false, url, error: { code: 'handover-missing' } });
  expect(asked).toHaveLength(2);
});
