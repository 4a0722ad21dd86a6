import type { FigureSource, LegPrediction } from '@longhaul/shared';
import type { FileFacts } from '../judge/file-facts.ts';
import type { Pace, Promised } from './pace.ts';
import type { Standstill } from './standstill.ts';

/**
 * A download that the add-on has taken over. `starting`: it is being put in the original's place; `running`: it is with
 * the browser; `waiting`: it was interrupted and goes on by itself; `click`: it was interrupted and goes on when the
 * user clicks; `stuck`: the browser cannot write the file; `lost`: it could not be started again; `done`: it is whole.
 */
export type JobState = 'starting' | 'running' | 'waiting' | 'click' | 'stuck' | 'lost' | 'done';

/** States in which a download goes on only when the user does something. */
const WAITS_FOR_USER: ReadonlySet<string> = new Set(['click', 'stuck', 'lost']);

/** Whether a job goes on only when the user does something. */
export function waitsForUser({ state }: { readonly state: string }): boolean {
  return WAITS_FOR_USER.has(state);
}

export interface Job extends Promised {
  readonly key: string;
  readonly state: JobState;
  /** Whether its bytes come through depots or directly. */
  readonly way: 'chain' | 'direct';
  readonly startedAtMs: number;
  /** The browser's id of the original download. */
  readonly originalId: number;
  /** The browser's id of the download that took its place, once there is one. */
  readonly downloadId: number | undefined;
  /** Where its file goes, once that is seen: by this it is known again when Firefox numbers its downloads anew. */
  readonly path?: string;
  /** What the browser was asked to download last. */
  readonly url: string;
  readonly masterUrl: string;
  readonly originUrl: string;
  /** The page with the link; empty when it is not known. */
  readonly page: string;
  readonly name: string;
  /** The version of the file that is being downloaded. */
  readonly file: FileFacts;
  /** Whether the origin is asked for the whole in one request: see `isRepeatable`. */
  readonly inOnePiece: boolean;
  /** The master that the user had agreed to tell how it goes when it began; left out where he had not. */
  readonly reportsTo?: string | undefined;
  /** The master's id of the plan that it comes by; left out by jobs of older versions. */
  readonly jobId?: string | undefined;
  /** Depot ids, entry depot first. */
  readonly chain: readonly string[];
  readonly predictedSeconds: number;
  readonly directSeconds: number;
  /** How `directSeconds` is known; left out by jobs of older versions, as what follows. */
  readonly directSource?: FigureSource;
  /** What the plan expects of each leg, the origin's end last. */
  readonly legs?: readonly LegPrediction[];
  /**
   * The depot that its bytes come from, as that says: of an entry group any may serve. Left out where nobody
   * has said.
   */
  readonly servedBy?: string | undefined;
  /** Where the plan led: an entry depot, with the ticket in the address. */
  readonly location?: string;
  /** Whether the user has chosen the direct way, or there is no other one: then none is looked for. */
  readonly choseDirect?: boolean;
  /** Whether its depots have found that it is not what the origin states: what comes of it comes from that alone. */
  readonly isOriginsOnly?: boolean;
  /** Whether Firefox has kept it since it ran before, so that nobody can lead it. */
  readonly isKept?: true;
  /** Whether the user has paused it, or the machine has slept: then its time says nothing of its way. */
  readonly wasPaused?: true;
  /** Whether the add-on has paused it for a moment, and nobody has seen it go on since: nobody else lets it go on. */
  readonly isHeld?: true | undefined;
  /** Times that it was interrupted. */
  readonly breaks?: number;
  /** The most bytes that were seen on disk: after a failed resumption Firefox says 0. */
  readonly bytes: number;
  /** When there were more for the last time. */
  readonly bytesAtMs: number;
  readonly interruption: Interruption | undefined;
  /** What still stands on disk until the download that took its place has delivered more. */
  readonly spare: Spare | undefined;
  /** Times that it was started again from the first byte. */
  readonly restarts: number;
  /** Whether the user was asked where it goes, and an add-on can start nothing there: then it only resumes. */
  readonly wasAsked?: true;
  /** In Firefox, the number of the rule that leads its requests to the master. */
  readonly leadRuleId?: number;
  /** Whether that rule leads it to no master, because the user did not want one told of it. */
  readonly isUnled?: true | undefined;
  /** The same number, as jobs of older versions call it. */
  readonly routeId?: number;
  /** How fast it is; `undefined` while nobody has looked, and where that makes no difference. */
  readonly pace?: Pace | undefined;
  /** For how long nothing has come; `undefined` as for the pace. */
  readonly standstill?: Standstill | undefined;
  /** Times that another way was looked for because its own was slow, in vain or not. */
  readonly changes?: number;
  /** The last time that it was led to another way, and the way before. */
  readonly lastChange?: Pick<Job, 'way' | 'chain' | 'servedBy'> & {
    readonly atMs: number;
    /** Whether the user wanted it; else its way was slow. */
    readonly isAsked?: true;
    /** The plan of the way before, how fast that was, and what the new one had to begin with. */
    readonly jobId?: string | undefined;
    readonly rateBps?: number | undefined;
    readonly bytes?: number;
  };
  /** When it was whole. */
  readonly doneAtMs?: number;
}

/** What Firefox has kept since it ran before: nobody may lead it any more, so that its rest comes from the site. */
export const FROM_BEFORE = {
  way: 'direct',
  chain: [],
  choseDirect: true,
  isKept: true,
  pace: undefined,
  wasPaused: true,
} as const satisfies Partial<Job>;

/** Why a job does not go on by itself, and what has been tried. */
export interface Interruption {
  readonly sinceMs: number;
  /** Bytes that were there when it began. */
  readonly bytes: number;
  /** Attempts to go on. */
  readonly tries: number;
  readonly nextTryAtMs: number;
  /** The browser's or a depot's word for what is wrong. */
  readonly problem: string;
}

/** An interrupted or slow download whose bytes are worth more than those of the new one, for now. */
export interface Spare
  extends Pick<Job, 'url' | 'way' | 'chain' | 'interruption' | 'isHeld' | 'promisedBps' | 'directBps'> {
  readonly downloadId: number;
  readonly bytes: number;
  /** Where it was slow, and is paused meanwhile: the seconds that it had left. */
  readonly leftSeconds?: number;
}
