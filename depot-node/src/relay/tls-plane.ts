import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Kernel } from '../kernel/open-kernel.ts';
import { descriptorOf, stopReading } from '../kernel/tcp-handle.ts';
import type { Securing, TlsEnding } from '../tls/tls-ending.ts';
import type { RelayThread } from './relay-thread.ts';
import type { RelayThreads } from './relay-threads.ts';
import type { SecureCommand } from './thread-message.ts';
import { TlsContexts } from './tls-contexts.ts';
import { TlsSide } from './tls-side.ts';

/** TLS that relay threads end. */
export interface TlsPlane extends TlsEnding {
  /** The connection whose inside a stream is, where a flow may take it. */
  readonly sideOf: (stream: Duplex) => TlsSide | undefined;
}

interface TlsPlaneInit {
  readonly kernel: Kernel;
  readonly threads: Pick<RelayThreads, 'idlest' | 'isAlive'>;
  readonly nowMs: () => number;
}

/** Ends TLS in the relay's threads; each connection goes to the one that has the least to do. */
export function createTlsPlane({ kernel, threads, nowMs }: TlsPlaneInit): TlsPlane {
  const contexts = new TlsContexts(nowMs);
  const handshakes = (['server', 'client'] as const).flatMap((role) =>
    [false, true].map((isResumed) => ({ role, isResumed, count: 0 })),
  );
  const sides = new WeakMap<Duplex, TlsSide>();

  const begin = (
    below: Duplex,
    what: (thread: RelayThread) => Pick<SecureCommand, 'role' | 'context' | 'host'>,
  ): Securing | undefined => {
    const thread = threads.idlest();
    if (!thread || thread.whyNoTls !== undefined) return undefined;
    // What lies in Node's queue would come behind what the thread writes.
    if (!(below instanceof Socket) || below.destroyed || below.writableLength > 0) return undefined;
    const own = descriptorOf(below);
    const pair = own === undefined ? undefined : kernel.makeSocketPair();
    if (own === undefined || !pair) return undefined;
    const [plain, nodeEnd] = pair;
    const descriptor = kernel.duplicate(own);
    if (descriptor < 0) {
      for (const end of pair) kernel.close(end);
      return undefined;
    }
    const command = {
      type: 'secure',
      descriptor,
      plain,
      head: stopReading(below),
      ...what(thread),
    } as const;
    const onSecured = (isResumed: boolean) => {
      const count = handshakes.find((one) => one.role === command.role && one.isResumed === isResumed);
      if (count) count.count += 1;
    };
    const side = new TlsSide({
      kernel,
      thread,
      below,
      nodeEnd,
      command,
      onSecured,
    });
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

  return {
    accept: (raw, material) =>
      begin(raw, (thread) => ({ role: 'server', context: contexts.ofListener(thread, material) })),
    connect: (below, host, authorities) =>
      begin(below, (thread) => ({
        role: 'client',
        context: contexts.ofAuthorities(thread, authorities),
        host: { name: host, isAddress: isIP(host) !== 0 },
      })),
    use: () => ({ isAlive: threads.isAlive(), handshakes }),
    sideOf: (stream) => {
      const side = sides.get(stream);
      return side?.isThere === true ? side : undefined;
    },
  };
}
