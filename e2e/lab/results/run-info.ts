import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpus, release, totalmem } from 'node:os';
import * as z from 'zod';
import { countOtherLabs } from './other-labs.ts';

const sittingSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  /** Only when it is another one than that of the sitting before. */
  commit: z.string().optional(),
  /** The same of the kernel. */
  kernel: z.string().optional(),
  /** Some lines stayed, and all others were measured again: what those were is not in the result any more. */
  isAnew: z.literal(true).optional(),
});

/**
 * A later part of a run that was interrupted, or of which a part was measured anew; older results have only
 * the moment, as text.
 */
export type Sitting = z.infer<typeof sittingSchema>;

export const runInfoSchema = z.object({
  experiment: z.string(),
  /** Tells whether a result may be continued: {@link fingerprintOf} all that decides what is run. */
  planFingerprint: z.string(),
  /** As typed, for example `npm run lab -- matrix --quick`. */
  command: z.string(),
  /** ISO 8601. */
  startedAt: z.string(),
  /** When an interrupted run was taken up again; such a result was not measured in one sitting. */
  resumedAt: z.array(z.union([z.string().transform((at): Sitting => ({ at })), sittingSchema])),
  /** null: not finished, and may be resumed. */
  finishedAt: z.string().nullable(),
  machine: z.object({ cpu: z.string(), cores: z.number(), memoryBytes: z.number() }),
  kernel: z.string(),
  /** Of the programs that took part, by name. */
  versions: z.record(z.string(), z.string()),
  /** More about how it was measured, one sentence each; Markdown. */
  notes: z.array(z.string()).optional(),
  /** Of the working tree, with `+` when it had changes; left out without git. */
  commit: z.string().optional(),
  /** Other labs of this machine that lived when the run began (the most of all its sittings) and when it ended. */
  otherLabs: z.object({ atStart: z.number(), atEnd: z.number().optional() }).optional(),
  options: z.object({
    repeat: z.number(),
    quick: z.boolean(),
    /** The set of scenarios and variants that was asked for. */
    set: z.string().optional(),
    /** null: transfers were never cut. */
    cutSeconds: z.number().nullable(),
    seed: z.number(),
  }),
});

/** Where, when and with what a result came about; stands beside it as `<file>.run.json`. */
export type RunInfo = z.infer<typeof runInfoSchema>;

/** What the driver knows; the rest is asked from the machine. */
export type RunRequest = Pick<RunInfo, 'experiment' | 'planFingerprint' | 'command' | 'options' | 'notes'> & {
  /** Programs whose versions matter, node aside. */
  readonly programs: readonly string[];
};

/** A program that does not answer its version by then is not asked again. */
const VERSION_TIMEOUT_MS = 5000;

/** How to ask a program for its version when `--version` is not it. */
const VERSION_FLAGS: Readonly<Record<string, string>> = { haproxy: '-v', nginx: '-v' };

/** Describes this machine and moment for a run that begins. Programs that are not there are left out. */
export function describeRun({ programs, ...known }: RunRequest, now = new Date()): RunInfo {
  const versions: Record<string, string> = { node: process.versions.node };
  for (const program of programs) {
    const said = firstLine(program, [VERSION_FLAGS[program] ?? '--version']);
    const version = said && /\d+(?:\.\d+)+/.exec(said)?.[0];
    if (version) versions[program] = version;
  }
  const commit = firstLine('git', ['rev-parse', '--short=12', 'HEAD']);
  const isChanged = firstLine('git', ['status', '--porcelain', '--untracked-files=no']) !== undefined;
  const processors = cpus();
  return {
    ...known,
    startedAt: now.toISOString(),
    resumedAt: [],
    finishedAt: null,
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown',
      cores: processors.length,
      memoryBytes: totalmem(),
    },
    kernel: release(),
    versions,
    ...(commit === undefined ? {} : { commit: isChanged ? `${commit}+` : commit }),
    otherLabs: { atStart: countOtherLabs() },
  };
}

/** What is known of `found` when the run that `wanted` describes goes on with it, or measures some of it anew. */
export function resumeRun(found: RunInfo, wanted: RunInfo, isAnew = false): RunInfo {
  const before = { commit: found.commit, kernel: found.kernel };
  for (const { commit, kernel } of found.resumedAt) {
    before.commit = commit ?? before.commit;
    before.kernel = kernel ?? before.kernel;
  }
  const { commit, kernel, startedAt: at, otherLabs } = wanted;
  const sitting: Sitting = {
    at,
    ...(commit === undefined || commit === before.commit ? {} : { commit }),
    ...(kernel === before.kernel ? {} : { kernel }),
    ...(isAnew ? { isAnew } : {}),
  };
  const most = Math.max(found.otherLabs?.atStart ?? 0, otherLabs?.atStart ?? 0);
  const resumedAt = [...found.resumedAt, sitting];
  return { ...found, finishedAt: null, resumedAt, otherLabs: { atStart: most } };
}

/** The same for two plans exactly when their JSON is the same, whatever the order of keys. */
export function fingerprintOf(plan: unknown): string {
  const sortKeys = (_: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256').update(JSON.stringify(plan, sortKeys)).digest('hex').slice(0, 16);
}

/** The first line that a program says on either stream; undefined when it says none or fails. */
function firstLine(program: string, args: readonly string[]): string | undefined {
  try {
    const said = execFileSync('sh', ['-c', '"$0" "$@" 2>&1', program, ...args], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      timeout: VERSION_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.split('\n')[0] || undefined;
  } catch {
    return undefined;
  }
}
