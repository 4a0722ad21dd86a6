import type { Duplex } from 'node:stream';
import { type DepotEntry, LonghaulError } from '@longhaul/shared';
import type { Dial, DialTarget } from '../sockets/dial.ts';
import { secure } from '../sockets/secure.ts';
import type { Trust } from '../sockets/trust.ts';
import { askForTunnel, type TunnelTarget } from './ask-for-tunnel.ts';
import type { ProofMaker } from './caller-proof.ts';
import { EarlyBytes } from './early-bytes.ts';
import { SetUpRoom } from './set-up-room.ts';
import { SpareLegs } from './spare-legs.ts';
import { type NeighbourLimits, StandingTunnels } from './standing-tunnels.ts';

/** What a connection through depots is for: which chain of which ticket, and to which origin. */
export interface ChainTarget extends TunnelTarget {
  /** The network of the client that this depot serves, where it does. */
  readonly client?: string;
  /** Whether its download has a connection already: others are built first. */
  readonly isFurther?: boolean;
}

interface NextLegComponents {
  readonly dial: Dial;
  readonly findDepot: (id: string) => Promise<DepotEntry | undefined>;
  readonly trust: Trust;
  readonly proofs: ProofMaker;
  /** As {@link findDepot}, from what is known without asking. */
  readonly knownDepot: (id: string) => DepotEntry | undefined;
  readonly noteRtt: (depot: string, rttMs: number) => void;
  /** A depot could not be reached, or a connection to it that waited for use has ended. */
  readonly onBroken: (depot: string) => void;
  /** A tunnel was opened, over a connection that waited for it or a new one. */
  readonly onLeg: (start: 'spare' | 'dialled') => void;
  readonly connectTimeoutMs: number;
  /** Connections kept ready to each neighbour. */
  readonly spareLegs: number;
  readonly neighbours: NeighbourLimits;
  readonly nowMs: () => number;
}

/**
 * Opens the connection from the depot at `place` of a chain to the origin: the last depot dials the origin itself,
 * every other one asks the next depot for a tunnel. `early` goes along with the request for it, so that it reaches
 * the origin one round trip of each leg earlier. Rejects with a `LonghaulError` that names the depot that failed.
 */
export type OpenNextLeg = (
  target: ChainTarget,
  place: number,
  signal: AbortSignal,
  early?: EarlyBytes,
) => Promise<Duplex>;

export interface NextLegs {
  readonly open: OpenNextLeg;
  /**
   * Runs `use` over a connection to another depot: one that waited for it, or, when that turns out to be broken
   * (`next-depot-unreachable`), a new one. Rejects with a `LonghaulError` that names a depot.
   */
  readonly overDepot: <T>(
    id: string,
    signal: AbortSignal,
    use: (connection: Duplex) => Promise<T>,
  ) => Promise<T>;
  /** Opens a connection to another depot, TLS included, for other things than a chain. */
  readonly dialDepot: (entry: DepotEntry, signal: AbortSignal) => Promise<Duplex>;
  /** Opens a connection to another depot for a download that is about to come. */
  readonly prepare: (id: string) => void;
  /** Takes over the place that a tunnel of a client holds at the next depot; to be called when it has ended. */
  readonly takePlace: (tunnel: Duplex) => () => void;
  /** Connections to other depots that wait for use. */
  readonly spareCount: () => number;
  readonly close: () => void;
}

const NOTHING = Buffer.alloc(0);
/**
 * Chains that this depot builds for clients at once; further ones wait as long as a connection may take. The
 * next depots know only this one, and not for whom it asks: they have room for 200 of its look-ups.
 */
const MOST_SET_UPS = 256;

export function createNextLegs(components: NextLegComponents): NextLegs {
  const spares = new SpareLegs({
    perNeighbour: components.spareLegs,
    open: (entry, signal) => dialDepot(components, entry, signal),
    findDepot: components.knownDepot,
    onBroken: components.onBroken,
    nowMs: components.nowMs,
  });
  const overDepot: NextLegs['overDepot'] = (id, signal, use) =>
    overConnection(components, spares, id, signal, use);
  const setUps = new SetUpRoom(MOST_SET_UPS, components.connectTimeoutMs);
  const standing = new StandingTunnels(components.neighbours);
  const inRoomOf = async (
    { client, authority, isFurther = false }: ChainTarget,
    next: string,
    signal: AbortSignal,
    setUp: () => Promise<Duplex>,
  ): Promise<Duplex> => {
    if (client === undefined) return setUp();
    const leave = await setUps.enter(client, isFurther, signal);
    return standing.hold(client, next, authority, setUp).finally(leave);
  };
  return {
    overDepot,
    open: async (target, place, signal, early = new EarlyBytes(NOTHING)) => {
      const next = target.chain[place + 1];
      if (next !== undefined) {
        const asked = { target, place, next, early, hasMac: false };
        const ask = () =>
          overDepot(next, signal, (stream) => askForTunnel(stream, components, asked, signal));
        const askTwice = async () => {
          try {
            return await ask();
          } catch (failure) {
            if (!asked.hasMac || !isNotProved(failure, next)) throw failure;
          }
          // It was of a newer version before, or knows another key of this depot: then a signature says more.
          components.proofs.noteMacs(next, false);
          return ask();
        };
        return inRoomOf(target, next, signal, askTwice);
      }
      const { socket } = await components.dial(
        { purpose: 'origin', ...target.authority, ...askerOf(target, place) },
        signal,
      );
      early.sendOver(socket)();
      return socket;
    },
    dialDepot: (entry, signal) => dialDepot(components, entry, signal),
    prepare: (id) => spares.prepare(id),
    takePlace: (tunnel) => standing.takePlace(tunnel),
    spareCount: () => spares.count,
    close: () => spares.close(),
  };
}

/** Whom the last depot of a chain dials the origin for: the neighbour that sent the download on, or its own client. */
function askerOf({ chain, client }: ChainTarget, place: number): Pick<DialTarget, 'forWhom'> {
  const previous = chain[place - 1];
  if (previous !== undefined) return { forWhom: { depot: previous } };
  return client === undefined ? {} : { forWhom: { client } };
}

function isNotProved(failure: unknown, next: string): boolean {
  return failure instanceof LonghaulError && failure.code === 'caller-not-proved' && failure.depot === next;
}

async function overConnection<T>(
  components: NextLegComponents,
  spares: SpareLegs,
  id: string,
  signal: AbortSignal,
  use: (connection: Duplex) => Promise<T>,
): Promise<T> {
  const spare = await spares.take(id, signal);
  if (!spare) signal.throwIfAborted();
  try {
    if (spare) {
      const used = await use(spare).then(
        (value) => ({ value }),
        (failure: unknown) => {
          signal.throwIfAborted();
          // The neighbour may have closed it a moment ago: what counts is what a new connection says.
          if (failure instanceof LonghaulError && failure.code !== 'next-depot-unreachable') throw failure;
          return undefined;
        },
      );
      if (used) {
        components.onLeg('spare');
        return used.value;
      }
    }
    const entry = await components.findDepot(id);
    if (!entry) throw new LonghaulError('next-depot-unknown');
    const value = await use(await dialDepot(components, entry, signal));
    components.onLeg('dialled');
    spares.keepWarm(id);
    return value;
  } catch (failure) {
    if (failure instanceof LonghaulError && failure.depot === undefined) {
      throw new LonghaulError(failure.code, { ...detailOf(failure), depot: id, cause: failure.cause });
    }
    throw failure;
  }
}

async function dialDepot(
  { dial, trust, noteRtt, onBroken }: NextLegComponents,
  entry: DepotEntry,
  signal: AbortSignal,
): Promise<Duplex> {
  const { host, port, addresses } = entry;
  const dialled = dial({ purpose: 'depot', host, port, addresses }, signal);
  const { socket, rttMs } = await dialled.catch((failure: unknown) => {
    if (!signal.aborted) onBroken(entry.id);
    throw failure;
  });
  noteRtt(entry.id, rttMs);
  const codes = {
    refused: 'next-depot-tls-failed',
    broken: 'next-depot-unreachable',
    timeout: 'next-depot-timeout',
  } as const;
  return entry.tls ? secure(socket, entry.host, trust, codes, signal) : socket;
}

function detailOf(failure: LonghaulError): { detail?: string } {
  return failure.detail === undefined ? {} : { detail: failure.detail };
}
