import { Socket } from 'node:net';
import type { Kernel } from '../kernel/open-kernel.ts';
import type { OpenSslCalls } from '../kernel/openssl-calls.ts';
import type { ListenerMaterial } from '../tls/tls-context.ts';
import type { ListenInit, TlsListening } from '../tls/tls-ending.ts';
import type { RelayThread } from './relay-thread.ts';
import type { RelayThreads } from './relay-threads.ts';
import type { AcceptedReport, SessionState } from './thread-message.ts';
import type { TlsContexts } from './tls-contexts.ts';

/** Keys of tickets are looked at this often, also where nothing comes to its first word. */
const KEYS_CHECK_MS = 3_600_000;

/** A connection whose TLS a thread has ended already. */
export interface ArrivedConnection {
  readonly descriptor: number;
  readonly state: SessionState;
}

interface ListeningComponents {
  readonly kernel: Kernel;
  readonly openSsl: OpenSslCalls;
  readonly threads: Pick<RelayThreads, 'all' | 'onRestart'>;
  readonly contexts: TlsContexts;
  /** Where whoever takes a connection finds how it stands. */
  readonly arrived: WeakMap<Socket, ArrivedConnection>;
}

/**
 * Has all threads take connections from one descriptor, and those that take the place of one that died; undefined where
 * it cannot listen.
 */
export function listenByThreads(components: ListeningComponents, init: ListenInit): TlsListening | undefined {
  const { kernel, threads, contexts } = components;
  const { descriptor, limits, counts, onRefused, onDeserted } = init;
  const alive = threads.all.filter((thread) => thread.isAlive());
  if (alive.length === 0 || kernel.listen(descriptor) < 0) return undefined;
  let { material } = init;
  let isOpen = true;
  contexts.keep(material, undefined);
  const listeners = new Map<RelayThread, { readonly id: number; readonly stop: () => void }>();
  const listenIn = (thread: RelayThread) => {
    const own = kernel.duplicate(descriptor);
    if (own < 0) return;
    const holder = threads.all.indexOf(thread);
    const command = {
      type: 'listen',
      descriptor: own,
      context: contexts.ofListener(thread, material),
      limits,
      counts: counts.memory,
      threads: threads.all.length,
      holder,
    } as const;
    const listener = thread.listen(command, {
      onAccepted: (report) => {
        if (report.state) counts.add(holder, report.network, -1);
        else counts.takePassedUp(holder);
        contexts.renewKeys();
        bring(components, report, isOpen ? init.onConnection : undefined);
      },
      onRefused: ({ refused }) => {
        for (const [network, times] of refused) onRefused(network, times);
      },
      onFinished: () => {
        listeners.delete(thread);
        counts.clear(holder);
        if (isOpen && listeners.size === 0) {
          close();
          onDeserted();
        }
      },
    });
    listeners.set(thread, listener);
  };
  for (const thread of alive) listenIn(thread);
  // No descriptors were left.
  if (listeners.size === 0) {
    contexts.keep(undefined, material);
    return undefined;
  }
  const listenNoMore = threads.onRestart(listenIn);
  const timer = setInterval(() => contexts.renewKeys(), KEYS_CHECK_MS).unref();
  const close = () => {
    isOpen = false;
    clearInterval(timer);
    listenNoMore();
    contexts.keep(undefined, material);
    for (const { stop } of listeners.values()) stop();
  };
  return {
    port: kernel.portOf(descriptor),
    renew: (next: ListenerMaterial) => {
      contexts.keep(next, material);
      material = next;
      for (const [thread, { id }] of listeners)
        thread.tell({ type: 'use-certificate', id, context: contexts.ofListener(thread, next) });
    },
    close: () => {
      if (!isOpen) return;
      close();
      kernel.stopListening(descriptor);
      kernel.close(descriptor);
    },
  };
}

/** Gives a connection that a thread has taken to whoever takes connections here. */
function bring(
  { kernel, openSsl, arrived }: ListeningComponents,
  { descriptor, state }: AcceptedReport,
  onConnection: ListenInit['onConnection'] | undefined,
): void {
  const drop = () => {
    if (state && state.connection !== 0) openSsl.freeConnection(state.connection);
    kernel.close(descriptor);
  };
  // The thread's stays the thread's.
  const own = state ? kernel.duplicate(descriptor) : descriptor;
  if (!onConnection || own < 0) {
    if (state && own >= 0) kernel.close(own);
    drop();
    return;
  }
  // Node shall not read what TLS is for.
  const options = { fd: own, allowHalfOpen: true, manualStart: state !== undefined };
  const raw = new Socket(options);
  if (state) arrived.set(raw, { descriptor, state });
  onConnection(raw);
  if (arrived.delete(raw)) drop();
}
