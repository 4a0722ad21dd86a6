import { LruMap } from '@longhaul/shared/service';
import type { TcpInfo } from '../sockets/tcp-info.ts';

/** A leg that was looked at after a shorter time is one that has just begun or ends ... */
const MIN_LOOK_MS = 500;
/** ... and one that has carried less is not busy. */
const MIN_BUSY_BYTES = 131_072;
/**
 * Several senders that probe for more (BBR) keep twice what the way holds under way, and make its round trip
 * twice as long by themselves ...
 */
const OWN_QUEUE = 2;
/** ... and a radio link, or a receiver that collects acknowledgements, adds to that. */
const OWN_JITTER_MS = 5;
/**
 * No queue holds more, and a master refuses what is far more: who forges the times in its acknowledgements
 * makes round trips of any length.
 */
const MOST_QUEUE_MS = 10_000;
/** Clients whose shortest round trip is remembered. */
const MOST_CLIENTS = 1000;
/** A client that has been elsewhere meanwhile is another one. */
const CLIENT_LIFE_MS = 3_600_000;
/** Networks that are remembered between two reports. */
const MAX_NETWORKS = 1000;

/** Looks at one connection to a client. */
export interface QueueMeter {
  readonly look: (info: TcpInfo, nowMs: number) => void;
}

/**
 * How long what is sent to clients waits in queues that others fill: by how much longer the round trip of a
 * busy connection is than the shortest one to the same address, beyond what senders that probe for more make
 * of it themselves.
 */
export class ClientQueues {
  readonly #shortest = new LruMap<string, { readonly rttMs: number; readonly atMs: number }>(MOST_CLIENTS);
  readonly #leastByNetwork = new Map<string, number>();

  /** Begins to look at a connection to a client at `address` in `network`. */
  begin(address: string, network: string, first: TcpInfo, startedMs: number): QueueMeter {
    let last = first;
    let lookedMs = startedMs;
    return {
      look: (info, nowMs) => {
        const shortestMs = this.noteRtt(address, info.minRttMs, nowMs);
        if (nowMs - lookedMs < MIN_LOOK_MS) return;
        const isBusy = (info.ackedBytes ?? 0) - (last.ackedBytes ?? 0) >= MIN_BUSY_BYTES;
        // A sender that starts fills queues itself, and they drain afterwards.
        const isThroughStart = !last.isStartingUp && !info.isStartingUp;
        if (isBusy && isThroughStart && shortestMs !== undefined && info.rttMs !== undefined)
          this.#note(network, info.rttMs - OWN_QUEUE * shortestMs - OWN_JITTER_MS);
        last = info;
        lookedMs = nowMs;
      },
    };
  }

  /** Takes down a round trip to a client; gives the shortest one of late. */
  noteRtt(address: string, rttMs: number | undefined, nowMs: number): number | undefined {
    const known = this.#shortest.get(address);
    const isFresh = known !== undefined && nowMs - known.atMs <= CLIENT_LIFE_MS;
    if (rttMs === undefined || (isFresh && known.rttMs < rttMs)) return isFresh ? known.rttMs : undefined;
    this.#shortest.set(address, { rttMs, atMs: nowMs });
    return rttMs;
  }

  /** The shortest waits since the last call, by network, in ms; 0 where nobody else fills anything. */
  take(): ReadonlyMap<string, number> {
    const taken = new Map(this.#leastByNetwork);
    this.#leastByNetwork.clear();
    return taken;
  }

  #note(network: string, queueMs: number): void {
    const known = this.#leastByNetwork.get(network);
    const [oldest] = this.#leastByNetwork.keys();
    if (known === undefined && this.#leastByNetwork.size >= MAX_NETWORKS && oldest !== undefined)
      this.#leastByNetwork.delete(oldest);
    this.#leastByNetwork.set(network, Math.min(Math.max(0, queueMs), known ?? MOST_QUEUE_MS));
  }
}
