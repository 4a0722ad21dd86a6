import { join } from 'node:path';
import { MIB } from '@longhaul/shared';

/** What each service of the arena has: a small machine, on which a bound that is missing shows at once. */

/** Heap of each service in megabytes. */
const HEAP_MB = 160;
/** Open files of each service. */
const DESCRIPTORS = 4096;

/**
 * Wraps the command of a service: a small heap, few descriptors. Each program becomes the next one, so the
 * pid stays.
 */
export function onSmallMachine(
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [
    'env',
    ...variables,
    'prlimit',
    `--nofile=${DESCRIPTORS}`,
    program,
    `--max-old-space-size=${HEAP_MB}`,
    '--expose-gc',
    '--import',
    join(import.meta.dirname, '..', 'watch', 'held-memory-main.ts'),
    ...args,
  ];
}

/** As many transfers as the doctor allows with so few descriptors, and the parts of one client, network and origin. */
export const DEPOT_LIMITS = { transfers: 400, perClient: 100, perNetwork: 100, perOrigin: 200 } as const;

/** Connections as many as the default has for each transfer; of memory what a machine of half a gigabyte can spare. */
export const DEPOT_LANES = { totalBufferBytes: 64 * MIB, total: 100 } as const;

/** A quarter of the transfers, as by default; what nobody comes for goes soon, so that a run need not wait. */
export const DEPOT_STEPWISE = { waiting: 100, waitSeconds: 5 } as const;

/** What a client network may have of origins that only the public is served from. */
export const PUBLIC_CAPS = { plansPerMinute: 60, bytesPerHour: 20_000_000 } as const;

/** For reports. */
export const SMALL_MACHINE_NOTE = `Each depot and the master: a heap of ${HEAP_MB} MB, ${DESCRIPTORS} descriptors, ${DEPOT_LIMITS.transfers} transfers, ${DEPOT_LIMITS.perClient} of them for one client network and ${DEPOT_LIMITS.perOrigin} from one origin, ${DEPOT_LANES.totalBufferBytes / MIB} MiB and ${DEPOT_LANES.total} connections for all lanes`;
