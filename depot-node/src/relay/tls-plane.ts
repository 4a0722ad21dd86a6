import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import { LISTENER_GROUPS } from '@longhaul/shared/service';
import type { Kernel } from '../kernel/open-kernel.ts';
import { openOpenSsl } from '../kernel/open-kernel.ts';
import { descriptorOf, stopReading } from '../kernel/tcp-handle.ts';
import { SharedCounts } from '../tls/shared-counts.ts';
import { openContext, TICKET_KEY_BYTES } from '../tls/tls-context.ts';
import type { HostToVerify } from '../tls/tls-end.ts';
import { type BegunTls, type Securing, type TlsEnding, TlsFailure } from '../tls/tls-ending.ts';
import type { RelayThread } from './relay-thread.ts';
import type { RelayThreads } from './relay-threads.ts';
import type { BegunReport, SecureCommand } from './thread-message.ts';
import { TlsContexts } from './tls-contexts.ts';
import { type ArrivedConnection, listenByThreads } from './tls-listening.ts';
import { TlsSide } from './tls-side.ts';

/** TLS that relay threads end. */
export interface TlsPlane extends TlsEnding {
  /** The connection whose inside a stream is, where a flow may take it. */
  readonly sideOf: (stream: Duplex) => TlsSide | undefined;
}

interface TlsPlaneInit {
  readonly kernel: Kernel;
  readonly threads: Pick<RelayThreads, 'idlest' | 'isAlive' | 'all' | 'onRestart'>;
  readonly nowMs: () => number;
}

/** Ends TLS in the relay's threads; each connection goes to the one that has the least to do. */
export function createTlsPlane({ kernel, threads, nowMs }: TlsPlaneInit): TlsPlane {
  const contexts = new TlsContexts(nowMs);
  const handshakes = (['server', 'client'] as const).flatMap((role) =>
    [false, true].map((isResumed) => ({ role, isResumed, count: 0 })),
  );
  const sides = new WeakMap<Duplex, TlsSide>();
  const arrived = new WeakMap<Socket, ArrivedConnection>();
  const counted: SharedCounts[] = [];
  // The threads have their own; this one tries certificates, and frees what goes to no thread any more.
  const openSsl = openOpenSsl();
  const common = { kernel, freeConnection: openSsl.freeConnection };

  /** Takes a connection over, where that is possible; `what` is asked for once it is sure. */
  const takeOver = (
    below: Duplex,
    what: (thread: RelayThread) => Pick<SecureCommand, 'role' | 'context' | 'host' | 'state'>,
  ): Securing | undefined => {
    const thread = idlest();
    // What lies in Node's queue would come behind what the thread writes.
    if (!thread || !(below instanceof Socket) || below.destroyed || below.writableLength > 0)
      return undefined;
    const own = descriptorOf(below);
    const pair = own === undefined ? undefined : kernel.makeSocketPair();
    if (own === undefined || !pair) return undefined;
    const [plain, nodeEnd] = pair;
    const descriptor = kernel.duplicate(own);
    if (descriptor < 0) {
      for (const end of pair) kernel.close(end);
      return undefined;
    }
    const head = stopReading(below);
    const command = { type: 'secure', descriptor, plain, head, ...what(thread) } as const;
    const onSecured = (isResumed: boolean) => {
      const count = handshakes.find((one) => one.role === command.role && one.isResumed === isResumed);
      if (count) count.count += 1;
    };
    return securingOf(new TlsSide({ ...common, thread, below, nodeEnd, command, onSecured }), below);
  };
  /** Goes on with a connection that a thread has accepted, in the one that has the least to do. */
  const goOn = (below: Socket, { descriptor, state }: ArrivedConnection): Securing => {
    const thread = idlest();
    const pair = thread && kernel.makeSocketPair();
    if (!thread || !pair) {
      openSsl.freeConnection(state.connection);
      kernel.close(descriptor);
      return failed(below);
    }
    const [plain, nodeEnd] = pair;
    const head = new Uint8Array(0);
    const command = { type: 'secure', role: 'server', context: 0, descriptor, plain, head, state } as const;
    return securingOf(
      new TlsSide({ ...common, thread, below, nodeEnd, command, onSecured: () => {} }),
      below,
    );
  };
  const securingOf = (side: TlsSide, below: Socket): Securing => {
    return {
      secured: side.secured.then((stream) => {
        sides.set(stream, side);
        return stream;
      }),
      drop: () => {
        below.destroy();
        side.drop();
      },
    };
  };
  const idlest = () => {
    const thread = threads.idlest();
    return thread?.whyNoTls === undefined ? thread : undefined;
  };

  return {
    accept: (raw, material) => {
      const state = arrived.get(raw);
      if (state && arrived.delete(raw)) return goOn(raw, state);
      return takeOver(raw, (thread) => ({ role: 'server', context: contexts.ofListener(thread, material) }));
    },
    check: (material) => {
      const ticketKeys = new Uint8Array(TICKET_KEY_BYTES);
      const spec = { role: 'server', ...material, groups: LISTENER_GROUPS, ticketKeys } as const;
      openContext({ openSsl, kernel }, spec, DEFAULT_CIPHERS).free();
    },
    makeCounts: () => {
      const counts = new SharedCounts(threads.all.length);
      counted.push(counts);
      return counts;
    },
    listen: (init) => listenByThreads({ kernel, openSsl, threads, contexts, arrived }, init),
    connect: (below, host, authorities) =>
      takeOver(below, (thread) => ({
        role: 'client',
        context: contexts.ofAuthorities(thread, authorities),
        host: hostOf(host),
      })),
    begin: (host, authorities) => {
      const thread = idlest();
      return thread && beginTls(thread, contexts.ofAuthorities(thread, authorities), host, takeOver);
    },
    use: () => ({
      isAlive: threads.isAlive(),
      handshakes: handshakes.map((one) => {
        const accepted = counted.reduce((sum, counts) => sum + counts.handshakes(one.isResumed), 0);
        return one.role === 'server' ? { ...one, count: one.count + accepted } : one;
      }),
    }),
    sideOf: (stream) => {
      const side = sides.get(stream);
      return side?.isThere === true ? side : undefined;
    },
  };
}

/** A client's handshake that waits for its connection; any thread may go on with it. */
function beginTls(
  thread: RelayThread,
  context: number,
  host: string,
  takeOver: (
    below: Duplex,
    what: () => Pick<SecureCommand, 'role' | 'context' | 'host' | 'state'>,
  ) => Securing | undefined,
): BegunTls {
  const beginning = thread.beginTls({ context, host: hostOf(host) });
  let begun: BegunReport['begun'];
  let isAbandoned = false;
  const abandon = () => {
    isAbandoned = true;
    if (begun) thread.tell({ type: 'abandon', connection: begun.connection });
    begun = undefined;
  };
  const firstFlight = Promise.withResolvers<Buffer>();
  void beginning.then((found) => {
    begun = found;
    if (isAbandoned) abandon();
    else if (found) firstFlight.resolve(Buffer.from(found.firstFlight));
    else firstFlight.reject(new TlsFailure(true, 'TLS cannot begin'));
  });
  return {
    firstFlight: firstFlight.promise,
    abandon,
    finish: (below) => {
      const state = begun && { ...BEGUN, connection: begun.connection };
      const securing = state && takeOver(below, () => ({ role: 'client', context, state }));
      if (securing) {
        begun = undefined;
        return securing;
      }
      abandon();
      return failed(below);
    },
  };
}

function failed(below: Duplex): Securing {
  below.destroy();
  return {
    secured: Promise.reject(new TlsFailure(true, 'the connection cannot be taken over')),
    drop: () => undefined,
  };
}

/** Nothing has come or gone yet. */
const BEGUN = {
  isNew: true,
  unread: new Uint8Array(0),
  unsent: new Uint8Array(0),
  isUpOpen: true,
  isDownOpen: true,
  hasEnded: false,
};

function hostOf(name: string): HostToVerify {
  return { name, isAddress: isIP(name) !== 0 };
}
