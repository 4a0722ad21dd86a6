import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeBase64url, noticeText, parseNoticeTarget } from '@longhaul/shared';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { generateSigningKey } from '../keys/signing-key.ts';
import { closeServer, listenOnLoopback } from '../testing/listening-depot.ts';
import { PlanTeller } from './plan-teller.ts';

const signingKey = generateSigningKey();
let servers: Server[];
let told: string[];
let status: number;
let nowMs: number;
let teller: PlanTeller;

/** Depots that answer with `status` and keep who was told of whom, where the notice was meant for them. */
beforeEach(async () => {
  servers = [];
  told = [];
  status = 204;
  nowMs = 1_795_000_000_000;
  const ports = new Map<string, number>();
  for (const id of ['d1', 'd2', 'd3']) {
    const server = createServer((request, response) => {
      const notice = parseNoticeTarget(request.url ?? '');
      if (!notice.ok) throw notice.error;
      const { next, keyId, signature } = notice.value;
      expect(keyId).toBe(signingKey.keyId);
      const bytes = Buffer.from(noticeText(id, notice.value));
      const isMine = signingKey.verify(bytes, decodeBase64url(signature) ?? new Uint8Array());
      told.push(`${id} ${isMine ? next : 'for another one'}`);
      response.writeHead(status).end();
    });
    await listenOnLoopback(server);
    ports.set(id, (server.address() as AddressInfo).port);
    servers.push(server);
  }
  teller = new PlanTeller({
    signer: { current: signingKey },
    registry: {
      record: (id) => {
        const port = ports.get(id);
        return port === undefined
          ? undefined
          : { id, publicKey: '', host: 'depot.example', port, tls: false };
      },
      provedAddress: () => '127.0.0.1',
    },
    now: () => nowMs,
  });
});
afterEach(async () => {
  teller.close();
  await Promise.all(servers.filter(({ listening }) => listening).map(closeServer));
});

test('every depot of a plan but the last is told which one comes behind it, at the address that it has proved', async () => {
  await teller.tell(['d1', 'd2', 'd3']);
  expect(told.toSorted()).toEqual(['d1 d2', 'd2 d3']);
});

test('a chain of one depot, and a direct download, are told to nobody', async () => {
  await Promise.all([teller.tell(['d1']), teller.tell([])]);
  expect(told).toEqual([]);
});

test('one depot is told of the same neighbour four times a second at most, however many plans there are', async () => {
  await Promise.all(Array.from({ length: 100 }, () => teller.tell(['d1', 'd2'])));
  expect(told).toHaveLength(1);
  nowMs += 250;
  await teller.tell(['d1', 'd2']);
  expect(told).toHaveLength(2);
});

test('a depot that knows no notices is left alone for ten minutes', async () => {
  status = 404;
  await teller.tell(['d1', 'd2']);
  nowMs += 599_000;
  await teller.tell(['d1', 'd3']);
  expect(told).toEqual(['d1 d2']);
  nowMs += 2_000;
  await teller.tell(['d1', 'd3']);
  expect(told).toEqual(['d1 d2', 'd1 d3']);
});

test('a depot that was left alone is told again after its time, also where the clock was set back meanwhile', async () => {
  status = 404;
  await teller.tell(['d1', 'd2']);
  nowMs += 601_000 - 3_600_000;
  await teller.tell(['d1', 'd3']);
  expect(told).toEqual(['d1 d2', 'd1 d3']);
});

test('a depot that cannot be reached holds nobody up and fails nothing', async () => {
  for (const server of servers) await closeServer(server);
  await teller.tell(['d1', 'd2', 'd3']);
  expect(told).toEqual([]);
});
