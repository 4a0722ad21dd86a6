import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type Chain,
  type ClientReport,
  clientPrefix,
  DEPOT_CONGESTION_CONTROL,
  type LinkReport,
  type OriginReport,
} from '@longhaul/shared';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import { descriptorUnder, type HeldDescriptor, holdDescriptor } from '../sockets/held-descriptor.ts';
import type { LegClass } from '../sockets/leg-options.ts';
import { rawSocketOf } from '../sockets/reset.ts';
import { createTcpInfoReader, TCP_CLOSED, type TcpInfo, type TcpInfoCalls } from '../sockets/tcp-info.ts';
import { ClientQueues, type QueueMeter } from './client-queues.ts';
import { ClientWindows, type WindowMeter } from './client-windows.ts';
import { type LegCounts, type LegDelta, type LegMeasure, LegMeter, LIMITS } from './leg-meter.ts';
import { LinkEstimates } from './link-estimates.ts';
import { OriginEstimates, type OriginMeter } from './origin-estimates.ts';

/** Often enough for a download of seconds; a look at a connection costs about 2 us. */
const SAMPLE_MS = 1000;
/** A leg that rests is looked at this seldom in the end: thousands of idle tunnels must cost next to nothing. */
const MOST_REST_SAMPLES = 8;

export interface LegInfo {
  readonly legClass: LegClass;
  /** The depot at the other end, where it is one. */
  readonly depot?: string;
  /** The host of the origin at the other end, where it is one. */
  readonly origin?: string;
  /**
   * Whether somebody else takes over the descriptor of the stream. Then a duplicate is kept until `stop`, and neither
   * end nor reset of the connection gets out before.
   */
  readonly handedOver?: boolean;
}

/** The leg from the depot at `place` of a chain towards the client. */
export function downstreamLeg(chain: Chain, place: number): LegInfo {
  const depot = chain[place - 1];
  return depot === undefined ? { legClass: 'client' } : { legClass: 'depot', depot };
}

/** The leg from the depot at `place` of a chain towards the origin, by the origin's host. */
export function upstreamLeg(chain: Chain, place: number, origin: string): LegInfo {
  const depot = chain[place + 1];
  return depot === undefined ? { legClass: 'origin', origin } : { legClass: 'depot', depot };
}

/** Clients that only greet are looked at so often in a second: they need no ticket, and have any number of networks. */
const MOST_GREETINGS = 10;
const NOTHING_MOVED: LegDelta = {
  fromMs: 0,
  toMs: 0,
  minRttMs: undefined,
  sentBytes: 0,
  retransmittedBytes: 0,
  receivedBytes: 0,
  limitedMs: { receiver: 0, 'send-buffer': 0, 'congestion-window': 0, idle: 0 },
  recentRateBps: undefined,
  leastRateBps: undefined,
  deliveredBps: undefined,
  isOvershot: false,
  rttMs: undefined,
  isHeldByNetwork: false,
};

/** A leg as it was at its end; without a measure where the kernel could not be asked. */
export interface LegSample extends Pick<LegInfo, 'legClass' | 'depot'> {
  /** The network of the client at the other end, where it is one and was looked at. */
  readonly network?: string;
  readonly measure: LegMeasure | undefined;
}

export interface WatchedLeg {
  readonly neighbour: Pick<LegInfo, 'legClass' | 'depot'>;
  /** Takes a look between those that are taken of all legs: for what is over in a second or two. */
  readonly look: () => void;
  /** Takes the last look, which must come before the socket is destroyed, and forgets the leg. */
  readonly stop: () => LegSample;
  readonly measure: () => LegMeasure | undefined;
}

/** All legs of one class together, since the start. */
export interface LegTotals extends LegCounts {
  readonly legs: number;
}

export interface LegSampler {
  /** Watches a connection until `stop`. A bare descriptor is duplicated, as with `handedOver`. */
  readonly watch: (leg: Duplex | number, info: LegInfo) => WatchedLeg;
  readonly totals: (legClass: LegClass) => LegTotals;
  /** The links to other depots measured since the last call. */
  readonly takeLinkReports: () => LinkReport[];
  /** The same of the networks of clients. */
  readonly takeClientReports: () => ClientReport[];
  /** Takes down how far a client is that has only asked whether this depot is there. */
  readonly noteGreeting: (stream: Duplex) => void;
  /** What the legs from origins showed since the last call. */
  readonly takeOriginReports: () => OriginReport[];
}

interface Leg {
  readonly held: HeldDescriptor;
  readonly info: LegInfo;
  /** The network of the client at the other end, where it is one, and its address. */
  readonly client: string | undefined;
  readonly address: string | undefined;
  readonly meter: LegMeter;
  /** Of an origin's leg, and of a client's. */
  readonly origin: OriginMeter | undefined;
  readonly window: WindowMeter | undefined;
  readonly queue: QueueMeter | undefined;
  /** From one look to the next, in samples: doubled while nothing moves. */
  everySamples: number;
  /** Samples left until the next look. */
  waitsSamples: number;
}

interface LegSamplerOptions {
  /** Milliseconds by a clock that is never set. */
  readonly nowMs?: () => number;
  /** What the configuration lets each leg of a class be, bits per second. */
  readonly boundBpsOf?: (legClass: LegClass) => number | undefined;
}

/**
 * Looks at the watched connections once a second, at those on which nothing moves less often; all by one
 * timer that keeps no process alive.
 */
export function createLegSampler(
  kernel: (TcpInfoCalls & DescriptorCalls) | undefined,
  { nowMs = () => performance.now(), boundBpsOf = () => undefined }: LegSamplerOptions = {},
): LegSampler {
  const legs = new Set<Leg>();
  const links = new LinkEstimates('depots');
  const clients = new LinkEstimates('client-networks');
  const windows = new ClientWindows();
  const queues = new ClientQueues();
  const origins = new OriginEstimates();
  const totals = { client: newTotals(), depot: newTotals(), origin: newTotals() };
  const readInfo: (descriptor: number) => TcpInfo | undefined = kernel
    ? createTcpInfoReader(kernel)
    : () => undefined;
  /** Any other control fills queues itself; whether the kernel took what is configured only the socket tells. */
  const fillsNoQueues = (descriptor: number | undefined) =>
    descriptor !== undefined &&
    kernel?.readText(descriptor, SOCKET_OPTIONS.congestion) === DEPOT_CONGESTION_CONTROL;
  let timer: NodeJS.Timeout | undefined;
  const greetings = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 };

  const look = (leg: Leg) => {
    const descriptor = leg.held.descriptor();
    const info = descriptor === undefined ? undefined : readInfo(descriptor);
    if (!info) return;
    const delta = leg.meter.add(info, nowMs());
    addTo(totals[leg.info.legClass], delta);
    if (leg.info.depot !== undefined) links.note(leg.info.depot, delta);
    if (descriptor !== undefined) leg.origin?.look(info, kernel?.unreadBytes(descriptor), nowMs());
    if (leg.client !== undefined) clients.note(leg.client, delta, leg.address);
    leg.window?.look(info, nowMs());
    leg.queue?.look(info, nowMs());
    if (info.state === TCP_CLOSED) leg.held.release();
    const isUnderWay = (info.unackedSegments ?? 0) > 0;
    const hasMoved = isUnderWay || delta.sentBytes > 0 || delta.receivedBytes > 0;
    leg.everySamples = hasMoved ? 1 : Math.min(2 * leg.everySamples, MOST_REST_SAMPLES);
  };
  const lookAtAll = () => {
    for (const leg of legs) {
      leg.waitsSamples -= 1;
      if (leg.waitsSamples > 0) continue;
      look(leg);
      leg.waitsSamples = leg.everySamples;
    }
    links.endLook();
    clients.endLook();
    origins.endLook();
  };
  const forget = (leg: Leg) => {
    leg.held.release();
    leg.origin?.end();
    legs.delete(leg);
    if (legs.size === 0) clearInterval(timer);
  };

  return {
    watch: (stream, info) => {
      const { legClass, depot } = info;
      const named = depot === undefined ? { legClass } : { legClass, depot };
      const source = kernel && holdDescriptor(kernel, stream, info.handedOver === true);
      const descriptor = source?.descriptor();
      const first = descriptor === undefined ? undefined : readInfo(descriptor);
      totals[legClass].legs += 1;
      if (!source || !first) {
        source?.release();
        return {
          neighbour: named,
          look: () => {},
          stop: () => ({ ...named, measure: undefined }),
          measure: () => undefined,
        };
      }
      const meter = new LegMeter(first, nowMs(), boundBpsOf(legClass));
      const network = legClass === 'depot' ? undefined : networkAt(stream);
      const client = legClass === 'client' ? network : undefined;
      const origin =
        info.origin === undefined ? undefined : origins.begin(info.origin, network, first, nowMs());
      const window = client === undefined ? undefined : windows.begin(client, first, nowMs());
      const address = client === undefined ? undefined : addressAt(stream);
      const queue =
        client !== undefined && address !== undefined && fillsNoQueues(descriptor)
          ? queues.begin(address, client, first, nowMs())
          : undefined;
      const ends = { client, address, origin, window, queue };
      const leg = { info, ...ends, meter, held: source, everySamples: 1, waitsSamples: 1 };
      if (legs.size === 0) timer = setInterval(lookAtAll, SAMPLE_MS).unref();
      legs.add(leg);
      // Who has all leaves, and Node may destroy the socket before anybody has seen that all is through.
      const lookOnce = () => look(leg);
      if (typeof stream !== 'number') stream.prependOnceListener('end', lookOnce);
      return {
        neighbour: named,
        look: () => {
          if (legs.has(leg)) look(leg);
        },
        stop: () => {
          if (typeof stream !== 'number') stream.off('end', lookOnce);
          if (legs.has(leg)) {
            look(leg);
            forget(leg);
          }
          return {
            ...named,
            ...(client === undefined ? {} : { network: client }),
            measure: leg.meter.measure,
          };
        },
        measure: () => leg.meter.measure,
      };
    },
    noteGreeting: (stream) => {
      if (nowMs() - greetings.sinceMs >= 1000) Object.assign(greetings, { sinceMs: nowMs(), count: 0 });
      greetings.count += 1;
      const network = networkAt(stream);
      const descriptor = descriptorUnder(stream);
      if (greetings.count > MOST_GREETINGS || network === undefined || descriptor === undefined) return;
      const info = readInfo(descriptor);
      if (info?.minRttMs === undefined) return;
      clients.note(network, { ...NOTHING_MOVED, minRttMs: info.minRttMs });
      windows.noteScale(network, info);
      queues.noteRtt(addressAt(stream) ?? network, info.minRttMs, nowMs());
    },
    totals: (legClass) => totals[legClass],
    takeLinkReports: () => links.take(),
    takeOriginReports: () => origins.take(),
    takeClientReports: () => {
      const [seen, waits] = [windows.take(), queues.take()];
      return clients.take().map(({ to, ...measured }) => {
        const queueMs = waits.get(to);
        const queue = queueMs === undefined ? {} : { queueMs };
        return { ...measured, ...seen.get(to), ...queue, prefix: to };
      });
    },
  };
}

/** The address at the other end of a connection, and its network; `undefined` where nobody says. */
function addressAt(stream: Duplex | number): string | undefined {
  return typeof stream === 'number' ? undefined : (rawSocketOf(stream) as Partial<Socket>).remoteAddress;
}

function networkAt(stream: Duplex | number): string | undefined {
  const address = addressAt(stream);
  return address === undefined ? undefined : clientPrefix(address);
}

function newTotals() {
  return {
    legs: 0,
    sentBytes: 0,
    retransmittedBytes: 0,
    receivedBytes: 0,
    limitedMs: { receiver: 0, 'send-buffer': 0, 'congestion-window': 0, idle: 0 },
  };
}

function addTo(totals: ReturnType<typeof newTotals>, delta: LegCounts): void {
  totals.sentBytes += delta.sentBytes;
  totals.retransmittedBytes += delta.retransmittedBytes;
  totals.receivedBytes += delta.receivedBytes;
  for (const limit of LIMITS) {
    totals.limitedMs[limit] += delta.limitedMs[limit];
  }
}
