import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type DepotEntry,
  formatLinkTestTarget,
  formatProof,
  HEADERS,
  type LinkTest,
  linkTestText,
  ok,
  parseLinkTestTarget,
  parseProof,
  type Result,
  refuse,
} from '@longhaul/shared';
import { HourlyBudget, request } from '@longhaul/shared/service';
import { SAFETY_HEADERS } from '../door/client-headers.ts';
import type { ProofChecker, ProofMaker } from '../legs/caller-proof.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import { PeerShares } from './peer-shares.ts';

/** A link over which a test takes longer is slow enough to be known as such. */
const TEST_MS = 15_000;
/**
 * When all is handed to the kernel, the other depot may have the rest for so long: it closes as soon as it
 * has all, and who does not keeps others from their tests.
 */
const LINGER_MS = 1_000;
/** Written at once; the kernel's buffer must never run empty, or the rate would be ours and not the link's. */
const CHUNK = Buffer.alloc(262_144);
/** A test is looked at so often: only while it has something left to send its rate is the link's. */
const LOOK_MS = 200;
/** The first look only sees that something is left to send, without which the next one would tell no rate. */
const FIRST_LOOK_MS = 40;
/** A connection that is opened for its round trip: what the packets of the handshake and of its end weigh. */
const PROBE_BYTES = 500;

interface LinkTestsComponents {
  readonly plane: Pick<DataPlane, 'ownId' | 'watch' | 'observe' | 'steadyMs' | 'shutdown'>;
  /** Opens a connection to another depot, TLS included, and notes its round trip. */
  readonly dialDepot: (entry: DepotEntry, signal: AbortSignal) => Promise<Duplex>;
  /** The same without TLS, only for its round trip. */
  readonly probeDepot: (entry: DepotEntry, signal: AbortSignal) => Promise<void>;
  readonly depots: () => readonly DepotEntry[];
  readonly proofs: ProofMaker;
  readonly checker: ProofChecker;
  /** Asks the master for a fresh directory when who says to be a depot is not in it. */
  readonly ensureCallerKnown: (depot: string) => Promise<void>;
  /** Takes note that an accepted connection is a depot's. */
  readonly fromDepot: (connection: Duplex) => void;
  /** Whether transfers carry bytes: then the links are measured by them, and must not be disturbed. */
  readonly isBusy: () => boolean;
  /** Tells the master at once what a link has carried, so that it asks for the next test. */
  readonly report: () => void;
  /** Of tests in both directions together, and of probes; 0: none of them. */
  readonly bytesPerHour: number;
}

/**
 * Measures links that no transfer measures: their round trips, by connections that are opened and closed, one
 * at each heartbeat; and what they carry, by short tests that the master asks for. Never two tests at once at
 * one depot, none beside transfers.
 */
export class LinkTests {
  readonly #components: LinkTestsComponents;
  readonly #budget: HourlyBudget;
  readonly #shares: PeerShares;
  #isTesting = false;
  /** Whose round trip was measured last, by its id. */
  #probed = '';

  constructor(components: LinkTestsComponents) {
    this.#components = components;
    this.#budget = HourlyBudget.forTests(components.bytesPerHour);
    this.#shares = new PeerShares(components.bytesPerHour);
  }

  /** Measures the round trip to the next of the depots that are up. Never rejects. */
  async probe(): Promise<void> {
    const { depots, plane, probeDepot } = this.#components;
    const others = depots()
      .filter(({ id, state }) => id !== plane.ownId && state === 'up')
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const next = others.find(({ id }) => id > this.#probed) ?? others[0];
    if (!next || !this.#budget.take(PROBE_BYTES, plane.steadyMs())) return;
    this.#probed = next.id;
    // Who cannot be reached is found out by the transfers that need it.
    await probeDepot(next, this.#deadline()).catch(() => undefined);
  }

  /**
   * Fetches bytes from another depot, which measures what its link carries; `false` where that cannot be now.
   * Never rejects.
   */
  async run({ from, bytes }: LinkTest): Promise<boolean> {
    const { depots, plane, isBusy } = this.#components;
    const entry = depots().find(({ id }) => id === from);
    const isPossible = entry && from !== plane.ownId && !this.#isTesting && !isBusy();
    if (!isPossible || !this.#budget.take(bytes, plane.steadyMs())) return false;
    this.#isTesting = true;
    let isTest = false;
    let cameBytes = 0;
    const hear = (answer: IncomingMessage) => {
      isTest = answer.statusCode === 200;
      answer.on('data', (chunk: Buffer) => {
        cameBytes += chunk.length;
      });
    };
    const hasCome = await this.#fetch(entry, bytes, hear).catch(() => false);
    this.#isTesting = false;
    // Whoever refuses, breaks off or is out of reach must not cost this depot the tests with all others.
    this.#budget.giveBack(Math.max(0, bytes - cameBytes), plane.steadyMs());
    // What has come of a test that broke off went over the link as well.
    if (isTest && cameBytes > 0)
      plane.observe({ type: 'link-tested', depot: from, role: 'receiver', bytes: cameBytes });
    return hasCome;
  }

  /** Sends bytes to another depot that asks for them; refused where it is none, or that cannot be now. */
  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<Result<void>> {
    const { plane, fromDepot, isBusy } = this.#components;
    const bytes = parseLinkTestTarget(incoming.url ?? '');
    if (!bytes.ok) return bytes;
    const caller = await this.#callerOf(incoming, bytes.value);
    if (!caller.ok) return caller;
    // It went while the master was asked who it is, and nothing of that will be heard any more.
    if (incoming.socket.destroyed) return ok(undefined);
    if (this.#isTesting || isBusy())
      return refuse('depot-full', 'a link is measured when nothing else is done');
    const nowMs = plane.steadyMs();
    if (!this.#shares.hasRoomFor(caller.value, bytes.value, nowMs) || !this.#budget.take(bytes.value, nowMs))
      return refuse('depot-full', 'this hour has no bytes left for tests');
    this.#shares.note(caller.value, bytes.value, nowMs);
    fromDepot(incoming.socket);
    void this.#send(caller.value, bytes.value, response);
    return ok(undefined);
  }

  async #send(depot: string, bytes: number, response: ServerResponse): Promise<void> {
    const { plane } = this.#components;
    const { socket } = response;
    if (!socket) return;
    this.#isTesting = true;
    const leg = plane.watch(socket, { legClass: 'depot', depot, handedOver: true });
    const looks = setInterval(leg.look, LOOK_MS);
    const firstLook = setTimeout(leg.look, FIRST_LOOK_MS);
    let linger: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      response.once('finish', () => {
        linger = setTimeout(resolve, LINGER_MS);
      });
      for (const event of ['end', 'close', 'error']) socket.once(event, () => resolve());
      this.#deadline().addEventListener('abort', () => resolve());
    });
    response.writeHead(200, {
      ...SAFETY_HEADERS,
      'Content-Type': 'application/octet-stream',
      'Content-Length': bytes,
    });
    let left = bytes;
    const writeOn = () => {
      while (left > 0) {
        const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
        left -= chunk.length;
        if (!response.write(chunk)) return;
      }
      response.end();
    };
    // What cannot be sent any more is known by the socket's end.
    response.on('error', () => {});
    response.on('drain', writeOn);
    writeOn();
    await over;
    clearTimeout(linger);
    response.off('drain', writeOn);
    clearInterval(looks);
    clearTimeout(firstLook);
    leg.stop();
    socket.destroy();
    this.#isTesting = false;
    plane.observe({ type: 'link-tested', depot, role: 'sender', bytes: bytes - left });
    if (left === 0) this.#components.report();
  }

  async #fetch(entry: DepotEntry, bytes: number, hear: (answer: IncomingMessage) => void): Promise<boolean> {
    const { dialDepot, proofs } = this.#components;
    const signal = this.#deadline();
    const connection = await dialDepot(entry, signal);
    const proof = proofs.make(linkTestText(entry.id, bytes), 0, 0);
    try {
      return await new Promise<boolean>((resolve, reject) => {
        const outgoing = request({
          path: formatLinkTestTarget(bytes),
          // The sender has seen all of it only when this side closes.
          headers: { host: entry.host, connection: 'keep-alive', [HEADERS.proof]: formatProof(proof) },
          createConnection: () => connection,
        });
        signal.addEventListener('abort', () => outgoing.destroy(new Error('the test takes too long')));
        outgoing.once('error', reject);
        outgoing.once('response', (answer) => {
          hear(answer);
          answer.once('error', reject);
          answer.once('end', () => resolve(answer.statusCode === 200));
        });
        outgoing.end();
      });
    } finally {
      connection.destroy();
    }
  }

  async #callerOf({ headers, socket }: IncomingMessage, bytes: number): Promise<Result<string>> {
    const { checker, plane, ensureCallerKnown } = this.#components;
    const text = String(headers[HEADERS.proof] ?? '');
    const proof = parseProof(text);
    if (!proof.ok) return proof;
    const { depot } = proof.value;
    await ensureCallerKnown(depot);
    const shown = { text, from: socket.remoteAddress ?? '' };
    return checker.check(shown, linkTestText(plane.ownId, bytes), 0, [depot, plane.ownId], 1);
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(TEST_MS), this.#components.plane.shutdown]);
  }
}
