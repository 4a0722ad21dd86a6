import { isAddressLiteral, LonghaulError } from '@longhaul/shared';
import { HostsFile, hostsPath } from '@longhaul/shared/service';
import * as z from 'zod';
import { isNameServer, lookUp } from './look-up.ts';
import { type DownloadAsker, LookUpRoom } from './look-up-room.ts';
import { NameCache } from './name-cache.ts';
import { OverlayNames } from './overlay-names.ts';
import { SharedLookUps } from './shared-look-ups.ts';

/** DNS has answered by then, or is not going to; shorter than a depot takes to connect. */
const LOOK_UP_TIMEOUT_MS = 5_000;

/** Whom a name is looked up for: the overlay, whose own names it is then, or who wants a download. */
export type NameAsker = 'overlay' | DownloadAsker;

export interface ResolveOptions {
  /** Aborts when nobody wants to know any more. */
  readonly signal: AbortSignal;
  readonly forWhom: NameAsker;
}

/**
 * Gives the addresses of a host, literals included. Rejects with `resolver-busy` when too many names are looked up for
 * this asker or for all, with what DNS says, or with the signal's reason.
 */
export type Resolve = (host: string, options: ResolveOptions) => Promise<readonly string[]>;

/** How a depot finds the addresses of names. */
export const resolverSchema = z.strictObject({
  /** Name servers, asked instead of this machine's. */
  servers: z
    .array(z.string().refine(isNameServer, 'must be an IP address, with or without a port'))
    .default([]),
});

interface ResolverInit {
  /** Asked before everything else. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** Addresses of name servers; those of this machine where none is named. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /** How long DNS may take for one name. */
  readonly timeoutMs?: number;
  readonly nowMs: () => number;
}

/** A resolver that asks the static table `names`, then this machine's hosts file, then DNS. */
export function createResolver(init: ResolverInit): Resolve {
  const { names, servers = [], timeoutMs = LOOK_UP_TIMEOUT_MS, nowMs } = init;
  const hosts = new HostsFile(init.hostsFile ?? hostsPath(), nowMs);
  const cache = new NameCache(nowMs);
  const room = new LookUpRoom();
  const running = new SharedLookUps<readonly string[]>();

  const ask = async (host: string, abandoned?: AbortSignal): Promise<readonly string[]> => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = abandoned ? AbortSignal.any([abandoned, deadline]) : deadline;
    try {
      const found = await lookUp(host, servers, signal);
      cache.keep(host, found);
      return found.addresses;
    } catch (failure) {
      if (!abandoned?.aborted) cache.keepFailure(host, failure);
      throw failure;
    }
  };
  const overlay = new OverlayNames(async (host) => cache.recall(host) ?? ask(host));
  const askFor = (asker: DownloadAsker, host: string, abandoned: AbortSignal) => {
    const leave = room.enter(asker);
    abandoned.addEventListener('abort', leave, { once: true });
    return ask(host, abandoned).finally(leave);
  };

  return async (host, { signal, forWhom }) => {
    signal.throwIfAborted();
    const near = isAddressLiteral(host) ? [host] : (tableEntry(names, host) ?? hosts.find(host));
    if (near) return near;
    if (host === 'localhost') return LOOPBACK;
    if (forWhom === 'overlay') return overlay.resolve(host, signal);
    const known = cache.recall(host);
    if (known) return known;
    if (!running.has(host) && !room.hasRoomFor(forWhom)) throw new LonghaulError('resolver-busy');
    return running.join(host, signal, (abandoned) => askFor(forWhom, host, abandoned));
  };
}

/** RFC 6761, section 6.3: nobody else is asked for it. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

function tableEntry(
  names: Readonly<Record<string, readonly string[]>>,
  host: string,
): readonly string[] | undefined {
  return Object.hasOwn(names, host) ? names[host] : undefined;
}
