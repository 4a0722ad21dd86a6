import { isIP, Socket } from 'node:net';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { getSystemErrorMessage, getSystemErrorName, isDeepStrictEqual } from 'node:util';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { SOCKET, SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import type { ListenerCalls } from '../kernel/listener-calls.ts';
import type { KernelAccess } from '../kernel/open-kernel.ts';
import { descriptorUnder } from './held-descriptor.ts';
import type { LegClass, LegTable } from './leg-options.ts';
import type { LegSockets, SocketReport } from './leg-sockets.ts';
import { createNodeLegSockets } from './node-leg-sockets.ts';
import { changeLegOptions, type RefusedOption, setLegOptions } from './set-leg-options.ts';
import { createTcpInfoReader, type TcpInfoCalls } from './tcp-info.ts';

/** Makes the sockets of a depot. Tells at once, through `report`, which of the options this machine refuses. */
export function createLegSockets(
  table: LegTable,
  access: KernelAccess,
  report: (report: SocketReport) => void,
): LegSockets {
  if (access.kernel) return new KernelLegSockets(table, access.kernel, report);
  report({ what: 'options-unavailable', reason: access.reason });
  return createNodeLegSockets(table);
}

type LegKernel = TcpInfoCalls & DescriptorCalls & Pick<ListenerCalls, 'accept'>;

/** Sockets made and tuned by calls of Linux. */
class KernelLegSockets implements LegSockets {
  readonly isTuned = true;
  readonly mptcp = { established: 0, fallbacks: 0 };
  readonly noteAccepted: LegSockets['noteAccepted'];
  readonly #table: LegTable;
  readonly #kernel: LegKernel;
  /** What accepted connections are set to counts for depots as well: then nothing is to be set again. */
  readonly #isSameForDepots: boolean;
  readonly #readInfo: ReturnType<typeof createTcpInfoReader>;
  readonly #report: (report: SocketReport) => void;
  readonly #told = new Set<string>();
  #system: string | undefined;
  #dialsMptcp: boolean;

  constructor(table: LegTable, kernel: LegKernel, report: (report: SocketReport) => void) {
    this.#table = table;
    this.#kernel = kernel;
    const { mptcp, ...depot } = table.depot;
    this.#isSameForDepots = isDeepStrictEqual(depot, table.client);
    this.#readInfo = createTcpInfoReader(kernel);
    this.#report = report;
    this.#dialsMptcp = mptcp;
    // A multipath listener does not pass on all options (tcp_notsent_lowat, pacing).
    this.noteAccepted = mptcp ? (socket) => this.#set(descriptorUnder(socket), 'client') : undefined;
    this.#tryAll();
  }

  connect(legClass: LegClass, address: string, port: number): Socket {
    const descriptor = this.#open(isIP(address) === 6 ? 6 : 4, legClass === 'depot');
    let socket: Socket;
    try {
      this.#set(descriptor, legClass);
      // With `manualStart` Node leaves a descriptor alone that is not connected yet; its types do not know it.
      const init = { fd: descriptor, manualStart: true, allowHalfOpen: true };
      socket = new Socket(init);
    } catch (failure) {
      this.#kernel.close(descriptor);
      throw failure;
    }
    try {
      return socket.connect(port, address);
    } catch (failure) {
      socket.destroy();
      throw failure;
    }
  }

  noteConnected(legClass: LegClass, socket: Socket): void {
    if (legClass !== 'depot' || !this.#dialsMptcp) return;
    const descriptor = descriptorUnder(socket);
    if (descriptor === undefined) return;
    // After a fallback the socket still says MPTCP, but no longer knows this option.
    const isMultipath = this.#kernel.hasOption(descriptor, SOCKET_OPTIONS.mptcpInfo);
    this.mptcp[isMultipath ? 'established' : 'fallbacks'] += 1;
  }

  rttMsOf(socket: Socket): number | undefined {
    const descriptor = descriptorUnder(socket);
    return descriptor === undefined ? undefined : this.#readInfo(descriptor)?.minRttMs;
  }

  reclassify(stream: Duplex, legClass: LegClass): void {
    if (legClass === 'client' || (legClass === 'depot' && this.#isSameForDepots)) return;
    const descriptor = descriptorUnder(stream);
    if (descriptor === undefined) return;
    const { client, [legClass]: options } = this.#table;
    const refused = changeLegOptions(this.#kernel, descriptor, client, options, this.#system);
    this.#tell(legClass, descriptor, refused);
  }

  bind(host: string, port: number): number | undefined {
    const family = isIP(host) === 6 ? 6 : 4;
    const descriptor = this.#open(family, true);
    this.#kernel.setNumber(descriptor, SOCKET_OPTIONS.reuseAddress, 1);
    if (family === 6) this.#kernel.setNumber(descriptor, SOCKET_OPTIONS.ipv6Only, host === '::' ? 0 : 1);
    this.#set(descriptor, 'client');
    const errno = this.#kernel.bindSocket(descriptor, host, port);
    if (errno === 0) return descriptor;
    this.#kernel.close(descriptor);
    throw systemError('listen', errno, host, port);
  }

  accept(listening: number): Socket | undefined {
    const descriptor = this.#kernel.accept(listening);
    return descriptor < 0 ? undefined : new Socket({ fd: descriptor, allowHalfOpen: true });
  }

  /** Every refusal of this machine is told at start instead of at the first download. */
  #tryAll(): void {
    for (const legClass of ['client', 'depot', 'origin'] as const) {
      const descriptor = this.#open(4, legClass === 'depot');
      this.#system ??= this.#kernel.readText(descriptor, SOCKET_OPTIONS.congestion);
      this.#set(descriptor, legClass);
      this.#kernel.close(descriptor);
    }
  }

  #open(family: 4 | 6, mayBeMptcp: boolean): number {
    if (mayBeMptcp && this.#dialsMptcp) {
      const descriptor = this.#kernel.openSocket(family, SOCKET.mptcp);
      if (descriptor >= 0) return descriptor;
      if (!SAYS_NOTHING_OF_MPTCP.has(descriptor)) {
        this.#dialsMptcp = false;
        this.#report({ what: 'mptcp-unavailable', reason: getSystemErrorMessage(descriptor) });
      }
    }
    const descriptor = this.#kernel.openSocket(family, SOCKET.tcp);
    if (descriptor < 0) throw systemError('socket', descriptor);
    return descriptor;
  }

  #set(descriptor: number | undefined, legClass: LegClass): void {
    if (descriptor === undefined) return;
    this.#tell(legClass, descriptor, setLegOptions(this.#kernel, descriptor, this.#table[legClass]));
  }

  #tell(legClass: LegClass, descriptor: number, refused: readonly RefusedOption[]): void {
    for (const { option, errno } of refused) {
      const { congestionControl: name } = this.#table[legClass];
      const key = option === 'congestionControl' ? `control ${name}` : `${legClass} ${option}`;
      if (this.#told.has(key)) continue;
      this.#told.add(key);
      const reason = getSystemErrorMessage(errno);
      if (option === 'congestionControl') {
        const used = this.#kernel.readText(descriptor, SOCKET_OPTIONS.congestion);
        this.#report({
          what: 'congestion-control-refused',
          name,
          used,
          reason: CONTROL_REASONS.get(errno) ?? reason,
        });
      } else this.#report({ what: 'option-refused', legClass, option, reason });
    }
  }
}

const { EAFNOSUPPORT, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOENT, EPERM } = constants.errno;

/**
 * Resources are there again later; and without IPv6 the kernel has no socket of its addresses, while it may
 * have multipath ones of IPv4.
 */
const SAYS_NOTHING_OF_MPTCP: ReadonlySet<number> = new Set([
  -EAFNOSUPPORT,
  -EMFILE,
  -ENFILE,
  -ENOBUFS,
  -ENOMEM,
]);

/** Of setsockopt(TCP_CONGESTION). */
const CONTROL_REASONS: ReadonlyMap<number, string> = new Map([
  [-ENOENT, 'the kernel does not offer it'],
  [-EPERM, 'net.ipv4.tcp_allowed_congestion_control does not permit it'],
]);

/** An error in the words of Node's own. */
function systemError(syscall: string, errno: number, address?: string, port?: number): Error {
  const code = getSystemErrorName(errno);
  const place = address === undefined ? '' : ` ${address}:${port}`;
  const message = `${syscall} ${code}: ${getSystemErrorMessage(errno)}${place}`;
  return Object.assign(new Error(message), { code, errno, syscall, address, port });
}
