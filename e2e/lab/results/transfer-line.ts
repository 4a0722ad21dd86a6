import type { FaultKind, FaultPosition } from '../experiment.ts';

/** One leg of a transfer as the depot `at` one of its ends saw it. */
export interface LegLine {
  readonly at: string;
  /** The other end: `client`, `origin` or a depot. */
  readonly to: string;
  /** How many connections it had, over lanes and one after the other. */
  readonly connections: number;
  readonly sentBytes: number;
  readonly retransmittedBytes: number;
  readonly receivedBytes: number;
  readonly minRttMs?: number;
  readonly rttMs?: number;
  readonly deliveryRateBps?: number;
  /** For how long its sender waited for what, by what it waited for. */
  readonly limitedMs: Readonly<Record<string, number>>;
}

/** One transfer of an experiment, as one line of a result file. */
export interface TransferLine {
  readonly experiment: string;
  readonly scenario: string;
  readonly variant: string;
  /** From 1. */
  readonly repeat: number;
  /** Seed of the emulator's random streams; the same for all variants of one scenario and repeat. */
  readonly seed: number;
  readonly sizeBytes: number;
  readonly seconds: number;
  /** Body bytes received, times 8, by seconds. */
  readonly goodputBps: number;
  /** From the start of the client's first connection to the first byte of the file; null where nobody measured it. */
  readonly ttfbMs: number | null;
  /** Whether the whole file is right; null when the transfer was cut. */
  readonly sha256Ok: boolean | null;
  /** The emulator's worst lateness while the transfer ran. */
  readonly latenessMs: number;
  /** The machine's load average over one minute, at the end. */
  readonly load: number;
  /** Present when the transfer was ended after `--cut` seconds. */
  readonly cut?: true;
  /** Only with `cut`: whether the bytes so far are right. */
  readonly prefixOk?: boolean;
  /** Only with `cut`. */
  readonly receivedBytes?: number;
  /** Depots the transfer went through, from the client on; left out where the program cannot say. */
  readonly chain?: readonly string[];
  /** Connections side by side that its plan has on every leg but the client's; only through a master. */
  readonly lanes?: number;
  /** What its plan predicted for it, and for going directly; only through a master. */
  readonly predictedSeconds?: number;
  readonly predictedDirectSeconds?: number;
  /** What the kernels of its depots saw; only where depots carried it. */
  readonly legs?: readonly LegLine[];
  /** What the scenario's cross traffic carried in all while the transfer ran, bits per second. */
  readonly crossBps?: number;
  /** Packets that devices' own queues dropped meanwhile, which no emulated link should: such a transfer is marked. */
  readonly deviceDrops?: number;
  /** How often depots left a way, or found none; left out where none was asked, and where one was ended on purpose. */
  readonly wayChanges?: number;
  /** Until the request for the file itself was sent, redirects included; left out where the program cannot say. */
  readonly setUpMs?: number;
  /** How a depot ended while the file passed; with it come `position` and `atPercent`. */
  readonly fault?: FaultKind;
  readonly position?: FaultPosition;
  /** The share of the file that the client had by then. */
  readonly atPercent?: number;
  /** Longest time without a new byte at the client after the fault; left out when the file never became whole. */
  readonly pauseMs?: number;
  /** How often the client was started: 1 is one uninterrupted download. Only with `fault`. */
  readonly attempts?: number;
  /** Why it failed; then the goodput is 0 and `sha256Ok` false. */
  readonly error?: string;
}
