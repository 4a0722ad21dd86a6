import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { CongestionControl } from '@longhaul/shared';
import type { DirectionSettings, LinkDirection } from '../emulator/link-settings.ts';
import type { DirectionCounters } from '../emulator/packet-direction.ts';
import type { CrossTraffic, Topology } from './topology.ts';

/** Cross traffic while it runs. */
export interface RunningTraffic {
  /** What has arrived at all sinks since they were started. */
  readonly receivedBytes: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** A topology that lives: namespaces, routes, links under emulation. */
export interface Network {
  readonly topology: Topology;
  /** Starts with `lh-`, the driver's pid and a random part; every namespace's name begins with it. */
  readonly prefix: string;
  /** A folder of this network for files of its hosts; removed by `close`. */
  readonly folder: string;
  /** The first IPv4 address of a site. */
  readonly addressOf: (site: string) => string;
  /** Starts a program at a site; `close` ends it if it still runs. */
  readonly spawn: (
    site: string,
    command: readonly string[],
    stdio: StdioOptions,
    cwd?: string,
  ) => ChildProcess;
  /** Sets the largest receive buffer of connections that a site opens or accepts from now on. */
  readonly setReceiveBuffer: (site: string, bytes: number) => void;
  /** Sets what connections that a site opens or accepts from now on send with. */
  readonly setCongestionControl: (site: string, name: CongestionControl) => void;
  /**
   * Changes links while traffic flows; named by their two ends in either order, `direction` is from `from` to
   * `to` or both.
   */
  readonly setLink: (
    link: { readonly from: string; readonly to: string; readonly direction: LinkDirection | 'both' },
    change: Partial<DirectionSettings>,
  ) => Promise<void>;
  /** Starts all random streams of the emulator anew. */
  readonly reseed: (seed: number) => Promise<void>;
  /** What the emulator has counted on a link, in the direction from `from` to `to`. */
  readonly countersOf: (from: string, to: string) => Promise<DirectionCounters>;
  /** The emulator's worst lateness since the last call, in milliseconds. */
  readonly takeLateness: () => Promise<number>;
  /** The process that carries all links' packets; undefined where there are only wires. */
  readonly emulatorPid: number | undefined;
  /** Packets that the own queues of all devices have dropped since they were made. */
  readonly deviceDrops: () => number;
  /** Starts flows and waits until all are connected. */
  readonly startCrossTraffic: (traffic: readonly CrossTraffic[]) => Promise<RunningTraffic>;
  /** Ends every process of this network and removes all that was set up. May be called twice. */
  readonly close: () => Promise<void>;
}
