import type { AttackerReport } from '../attacker/tally.ts';
import type { Witness } from '../bystander/bystander.ts';
import type { Service, ServiceLook } from '../watch/service-look.ts';
import type { Visit } from '../world/watchdogs.ts';

/** What was seen of one service around a strike. */
export interface ServiceWatch {
  readonly before: ServiceLook;
  readonly peak: ServiceLook;
  readonly after: ServiceLook;
  /** Memory that it needed before and needs afterwards; `undefined` when it did not say. */
  readonly heldBytes: { readonly before: number | undefined; readonly after: number | undefined };
  /** Whether its process ended. */
  readonly hasDied: boolean;
  readonly logLines: number;
  /** Transfers, tunnels and handovers that ended meanwhile: each has a line or two in the log. */
  readonly served: number;
  readonly leaks: readonly string[];
  /** By code, of the whole strike. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Transfers, tunnels and waiting places afterwards, beyond those before; `undefined` when it did not say. */
  readonly activeGrowth: number | undefined;
}

/** The attacker's report, and how its process did. */
export interface AttackerEnd extends AttackerReport {
  readonly cpuSeconds: number;
  /** What went wrong with the attack itself. */
  readonly failure?: string | undefined;
}

/** Everything that was seen around one strike. */
export interface Observation {
  readonly seconds: number;
  readonly attacker: AttackerEnd;
  /** Downloads of the bystander while nobody attacks, around the strike; and those that the strike touched. */
  readonly calm: readonly Witness[];
  readonly struck: readonly Witness[];
  readonly neighbourCalm: readonly Witness[];
  readonly neighbourStruck: readonly Witness[];
  readonly services: Readonly<Record<Service, ServiceWatch>>;
  /** Depots that were not up at a look, and the master that did not answer; with how often. */
  readonly down: Readonly<Record<string, number>>;
  readonly visits: readonly Visit[];
  /** URLs that the honest origin was asked for and that nobody had a ticket for. */
  readonly strangers: readonly string[];
}
