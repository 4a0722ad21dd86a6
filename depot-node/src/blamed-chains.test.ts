import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resetConnection } from './sockets/reset.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay } from './testing/overlay.ts';
import { listenAnywhere } from './testing/saboteur.ts';
import { testPlanes } from './testing/test-planes.ts';

const FILE = randomBytes(6_000_000);
const LANES = { firstBlockBytes: 65_536, leastBlockBytes: 16_384 };
const PROMISE = { rateBps: 1e8, worstRttMs: 20, worstLossRate: 2.5e-3 };

const TURN_MS = 5;
const TURN_BYTES = 8192;
/** So many turns of those that it serves it takes to find out that it serves enough. */
const TURNS_BEFORE_RESET = 10;

/**
 * An origin that sends in turns, ends a connection after some answers, and resets those beyond the ones that
 * it serves.
 */
class CountingOrigin {
  resets = 0;
  readonly #most: number;
  readonly #answersEach: number;
  /** How often those that it serves were asked, and when it is through with that. */
  readonly #served = new Map<Socket, { answers: number; last: Promise<void> }>();

  constructor(most: number, answersEach: number) {
    this.#most = most;
    this.#answersEach = answersEach;
  }

  readonly listener = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { socket } = asked;
    if (!this.#served.has(socket) && this.#served.size >= this.#most) {
      this.resets += 1;
      setTimeout(() => resetConnection(socket), TURNS_BEFORE_RESET * TURN_MS);
      return;
    }
    const state = this.#served.get(socket) ?? this.#serve(socket);
    state.answers += 1;
    const isLast = state.answers === this.#answersEach;
    state.last = state.last.then(() => this.#answer(asked, answer, isLast));
  };

  #serve(socket: Socket) {
    const state = { answers: 0, last: Promise.resolve() };
    this.#served.set(socket, state);
    socket.once('close', () => this.#served.delete(socket));
    return state;
  }

  async #answer(
    { headers, socket }: IncomingMessage,
    answer: ServerResponse,
    isLast: boolean,
  ): Promise<void> {
    const [, from = '0', to] = /^bytes=([0-9]+)-([0-9]*)$/.exec(headers.range ?? '') ?? [];
    const [startByte, endByte] = [Number(from), to ? Number(to) + 1 : FILE.length];
    if (isLast) this.#served.delete(socket);
    answer.writeHead(headers.range === undefined ? 200 : 206, {
      ETag: '"v1"',
      'Accept-Ranges': 'bytes',
      'Content-Length': endByte - startByte,
      ...(isLast ? { Connection: 'close' } : {}),
      ...(headers.range === undefined
        ? {}
        : { 'Content-Range': `bytes ${startByte}-${endByte - 1}/${FILE.length}` }),
    });
    for (let at = startByte; at < endByte && !socket.destroyed; at += TURN_BYTES) {
      answer.write(FILE.subarray(at, Math.min(endByte, at + TURN_BYTES)));
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    }
    answer.end();
  }
}

describe.each(await testPlanes())('with a relay of %s,', (_kind, splice) => {
  const chains = [
    ['entry', 'middle'],
    ['entry', 'spare'],
  ];
  const claims = { chains, promises: [PROMISE, { ...PROMISE, rateBps: 2e7 }] };

  test('a chain that carries lanes is not left because its origin resets further connections', async () => {
    const origin = new CountingOrigin(4, 12);
    const overlay = await startTestOverlay(['spare', 'middle'], origin.listener, splice);
    onTestFinished(() => overlay.close());
    const { events } = await overlay.addDepot('entry', { lanes: LANES });
    const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { ...claims, lanes: 8 }, 'entry');
    const { body, broken } = await fetchRaw(url);
    expect({ broken, isWhole: body.equals(FILE) }).toEqual({ broken: undefined, isWhole: true });
    expect(origin.resets).toBeGreaterThan(0);
    const opened = events.flatMap((event) => (event.type === 'lane-opened' ? [event.chain] : []));
    // Those that it serves come back when it has ended their connections.
    expect(opened.length).toBeGreaterThan(8);
    expect(opened.filter((chain) => chain[1] !== 'middle')).toEqual([]);
  });

  test('a chain that did not stand for the first answer is not waited for again by each lane', async () => {
    const origin = new CountingOrigin(8, 4);
    const overlay = await startTestOverlay(['spare'], origin.listener, splice);
    onTestFinished(() => overlay.close());
    const unanswered: Socket[] = [];
    const silent = createServer((socket) => unanswered.push(socket.on('error', () => {})));
    onTestFinished(() => {
      for (const socket of unanswered) socket.destroy();
      silent.close();
    });
    await overlay.addDepot('middle', { public: { host: '127.0.0.1', port: await listenAnywhere(silent) } });
    await overlay.addDepot('entry', { lanes: LANES, failover: { patienceSeconds: 0.2 } });
    const url = overlay.relayUrl(`${overlay.originUrl}/file.bin`, { ...claims, lanes: 4 }, 'entry');
    const { body, broken } = await fetchRaw(url);
    expect({ broken, isWhole: body.equals(FILE) }).toEqual({ broken: undefined, isWhole: true });
    expect(overlay.originConnections()).toBeGreaterThan(3);
    expect(unanswered).toHaveLength(1);
  });
});
