import { createServer } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import { decodeBase64url, parseWayTarget, type WayNotice, wayText } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, expect, test } from 'vitest';
import { generateSigningKey } from '../keys/signing-key.ts';
import { closeServer, listenOnLoopback } from '../testing/listening-depot.ts';
import { WayTeller } from './way-teller.ts';

const signingKey = generateSigningKey();
const material = selfSigned();
const SENT = {
  ticket: `a.b.${'C'.repeat(86)}`,
  origin: { scheme: 'https', host: 'origin.example', port: 443 },
  network: '192.0.2.0/24',
} as const;

let server: Server | undefined;
let told: WayNotice[];
let status: number;
let isSilent: boolean;
let silentPort = 0;
let nowMs: number;
let outcomes: string[];
let teller: WayTeller;

/** A depot d1 that keeps what it is told in its master's name, and answers with `status`. */
async function setUp({ tls = false, authorities = [] as string[] } = {}): Promise<void> {
  told = [];
  status = 204;
  isSilent = false;
  nowMs = 1_795_000_000_000;
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    if (isSilent) {
      request.socket.destroy();
      return;
    }
    const notice = parseWayTarget(request.url ?? '');
    if (!notice.ok) throw notice.error;
    const text = Buffer.from(wayText('d1', notice.value));
    expect(signingKey.verify(text, decodeBase64url(notice.value.signature) ?? new Uint8Array())).toBe(true);
    told.push(notice.value);
    response.writeHead(status).end();
  };
  server = (tls ? createTlsServer(material, answer) : createServer(answer)) as Server;
  const port = await listenOnLoopback(server);
  const line = {
    signer: { current: signingKey },
    registry: {
      record: (id: string) => {
        const at = { host: '127.0.0.1', port: id === 'silent' ? silentPort : port };
        return id === 'gone' ? undefined : { id, publicKey: '', ...at, tls };
      },
      provedAddress: (id: string) => (id === 'unproved' ? undefined : '127.0.0.1'),
    },
    now: () => nowMs,
  };
  outcomes = [];
  teller = new WayTeller(line, authorities, (outcome) => outcomes.push(outcome));
}

afterEach(async () => {
  teller.close();
  if (server?.listening) await closeServer(server);
});

test('an entry depot is told who comes with which ticket to which origin, in the name of its master', async () => {
  await setUp();
  await teller.tell('d1', SENT);
  const { ticket, origin, network: client } = SENT;
  expect(told).toMatchObject([{ ticket, origin, client, timeMs: nowMs, keyId: signingKey.keyId }]);
});

test('a depot that is not known, or has not proved where it is, is told nothing', async () => {
  await setUp();
  await Promise.all([teller.tell('gone', SENT), teller.tell('unproved', SENT)]);
  expect(told).toEqual([]);
});

test('over TLS only a depot is told for whose certificate somebody vouches, from when on he is known', async () => {
  await setUp({ tls: true });
  await teller.tell('d1', SENT);
  expect(told).toEqual([]);
  teller.renewAuthorities([material.cert]);
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(1);
});

test('a depot that knows no such notices is left alone for ten minutes', async () => {
  await setUp();
  status = 404;
  await teller.tell('d1', SENT);
  expect(outcomes).toEqual(['unknown']);
  nowMs += 599_000;
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(1);
  nowMs += 2_000;
  status = 204;
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(2);
});

test('a depot that does not answer is left alone for half a minute', async () => {
  await setUp();
  isSilent = true;
  await teller.tell('d1', SENT);
  isSilent = false;
  nowMs += 29_000;
  await teller.tell('d1', SENT);
  expect(told).toEqual([]);
  nowMs += 2_000;
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(1);
  expect(outcomes).toEqual(['unheard', 'heard']);
});

test('a depot that was left alone is told again after its time, also where the clock was set back meanwhile', async () => {
  await setUp();
  isSilent = true;
  await teller.tell('d1', SENT);
  isSilent = false;
  nowMs += 31_000 - 3_600_000;
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(1);
  status = 404;
  await teller.tell('d1', SENT);
  nowMs += 601_000 - 3_600_000;
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(3);
});

test('of many redirects no more are told of in a second than a thirtieth of a core can, and of one network a tenth of these', async () => {
  await setUp();
  const tellOf = async (networks: number, times: number) => {
    for (let network = 0; network < networks; network += 1)
      for (let time = 0; time < times; time += 1)
        await teller.tell('d1', { ...SENT, network: `192.0.${network}.0/24` });
  };
  await tellOf(1, 20);
  expect(told).toHaveLength(10);
  await tellOf(20, 10);
  expect(told).toHaveLength(100);
  nowMs += 1_000;
  await tellOf(1, 1);
  expect(told).toHaveLength(101);
});

test('a depot that does not answer takes no more than sixteen of the places', async () => {
  await setUp();
  let asked = 0;
  const never = createServer(() => {
    asked += 1;
  });
  silentPort = await listenOnLoopback(never);
  const telling = Array.from({ length: 40 }, (_, of) =>
    teller.tell('silent', { ...SENT, network: `192.0.${of}.0/24` }),
  );
  await teller.tell('d1', SENT);
  expect(told).toHaveLength(1);
  await expect.poll(() => asked).toBe(16);
  await closeServer(never);
  await Promise.all(telling);
  expect(asked).toBe(16);
});
