import { LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';
import { factText, readFact } from './fact-message.ts';
import type { Facts } from './facts.ts';

const FILE = 'facts.jsonl';
/** What was kept before a process that took it for outlived. */
const FILE_BEFORE = 'facts.jsonl.before';
/** Facts written between two looks at the event loop: about a millisecond. */
const FACTS_AT_ONCE = 300;

const NEWLINE = 10;

/** An epoch after this one is a mistake of the file: others would take nothing of what comes after it. */
const LATEST_EPOCH = Number.MAX_SAFE_INTEGER / 2;

const headSchema = z.object({
  version: z.literal(1),
  epoch: z.int().min(0).max(LATEST_EPOCH),
  savedAtMs: z.number(),
});
type Head = z.output<typeof headSchema>;

/** A file as it was found. */
interface Found {
  readonly head: Head | undefined;
  /** Those that have not been restored yet. One text of all of them may be longer than there can be. */
  readonly lines: Generator<Buffer, undefined>;
}

/**
 * What came of reading the file: facts that are known again, facts that are too old by the clock of now, and
 * lines that said nothing of use.
 */
export interface Restored {
  readonly facts: number;
  readonly outlived: number;
  readonly refused: number;
  /** How long ago the file was written, by the clock of now. */
  readonly passedMs: number;
}

/**
 * The facts of a master as one file of lines, so that a restart keeps what was learned. It is written as a
 * whole and takes the old one's place at once. What is damaged in it is left out: nothing in it cannot be
 * learned again.
 */
export class FactsFile {
  readonly #state: StateFolder;
  readonly #found: Found;
  /** A head that is none. */
  readonly #refused: number;
  /** Whether what was set aside is known again, and goes into the next file. */
  #isRejoined = false;

  /** Reads the file, where there is one. */
  constructor(state: StateFolder) {
    this.#state = state;
    const { found, isDamaged } = find(state, FILE);
    this.#found = found;
    this.#refused = Number(isDamaged);
  }

  /** An epoch after all that the file knows of, also where the clock was set back since. */
  epochAfter(nowMs: number): number {
    return Math.max(Math.floor(nowMs), (this.#found.head?.epoch ?? 0) + 1);
  }

  /**
   * Lets facts be known again, as much older as the file is; where a process had a clock that was ahead, also
   * those that it may have set aside.
   */
  restore(facts: Facts, nowMs: number): Restored {
    const { head } = this.#found;
    const restored = restoreAll(facts, this.#found, nowMs);
    // Its clock may have been set right while it ran; its epoch stays that of its start. And where it ended
    // before it had written anything, there is nothing but what it set aside.
    this.#isRejoined = !head || Math.max(head.savedAtMs, head.epoch) > nowMs;
    const before = this.#isRejoined
      ? restoreAll(facts, find(this.#state, FILE_BEFORE).found, nowMs).facts
      : 0;
    return { ...restored, facts: restored.facts + before, refused: restored.refused + this.#refused };
  }

  /** Keeps the file as it was found beside the one that is saved next. Throws `state-unusable`. */
  setAside(): void {
    this.#state.rename(FILE, FILE_BEFORE);
    this.#isRejoined = false;
  }

  /** Replaces the file. Throws `state-unusable` where the disk says no; then the last one stays. */
  async save(facts: Facts, nowMs: number): Promise<void> {
    await this.#state.saveParts(FILE, partsOf(facts, nowMs));
    if (!this.#isRejoined) return;
    this.#isRejoined = false;
    this.#state.remove(FILE_BEFORE);
  }
}

function* partsOf(facts: Facts, nowMs: number): Generator<string> {
  const head: Head = { version: 1, epoch: facts.epoch, savedAtMs: nowMs };
  let lines = [JSON.stringify(head)];
  for (const fact of facts.store.facts()) {
    if (!facts.store.isKept(fact.kind)) continue;
    lines.push(factText(fact, nowMs));
    if (lines.length < FACTS_AT_ONCE) continue;
    yield `${lines.join('\n')}\n`;
    lines = [];
  }
  yield [...lines, ''].join('\n');
}

function restoreAll(facts: Facts, { head, lines }: Found, nowMs: number): Restored {
  const passedMs = Math.max(0, nowMs - (head?.savedAtMs ?? nowMs));
  const restored = { facts: 0, outlived: 0, refused: 0, passedMs };
  for (const line of lines) {
    // Without a head nobody knows how old they are.
    restored[head ? restoreOne(facts, line, passedMs, nowMs) : 'refused'] += 1;
  }
  return restored;
}

function restoreOne(
  { store, source, epoch }: Facts,
  line: Buffer,
  passedMs: number,
  nowMs: number,
): 'facts' | 'outlived' | 'refused' {
  const told = readFact(asJson(line));
  // It would stay in the way of what this process learns.
  if (told?.source === source && told.epoch > epoch) return 'refused';
  const value = told && store.check(told.kind, told.value);
  if (!told || !value?.ok) return 'refused';
  const { ageMs, ...fact } = told;
  const taken = store.take({ ...fact, timeMs: nowMs - ageMs - passedMs, value: value.value }, nowMs);
  if (!taken.ok) return taken.error.code === 'fact-outlived' ? 'outlived' : 'refused';
  return taken.value ? 'facts' : 'refused';
}

function find(state: StateFolder, name: string): { readonly found: Found; readonly isDamaged: boolean } {
  const lines = linesOf(readBytes(state, name));
  const { value: first } = lines.next();
  const head = first && readHead(first);
  return { found: { head, lines }, isDamaged: first !== undefined && !head };
}

function readBytes(state: StateFolder, name: string): Buffer {
  try {
    return state.readBytes(name) ?? Buffer.alloc(0);
  } catch (failure) {
    // A file that cannot be read is one that is damaged, and the next one takes its place.
    if (failure instanceof LonghaulError) return Buffer.from(failure.message);
    throw failure;
  }
}

/** The lines with something in them. */
function* linesOf(bytes: Buffer): Generator<Buffer, undefined> {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, from);
    const to = end < 0 ? bytes.length : end;
    if (to > from) yield bytes.subarray(from, to);
    from = to + 1;
  }
}

function readHead(line: Buffer): Head | undefined {
  return headSchema.safeParse(asJson(line)).data;
}

function asJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}
