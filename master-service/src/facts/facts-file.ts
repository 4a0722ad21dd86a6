import { LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';
import { factText, readFact } from './fact-message.ts';
import type { Facts } from './facts.ts';

const FILE = 'facts.jsonl';
/** Facts written between two looks at the event loop: about a millisecond. */
const FACTS_AT_ONCE = 300;

/** An epoch after this one is a mistake of the file: others would take nothing of what comes after it. */
const LATEST_EPOCH = Number.MAX_SAFE_INTEGER / 2;

const headSchema = z.object({
  version: z.literal(1),
  epoch: z.int().min(0).max(LATEST_EPOCH),
  savedAtMs: z.number(),
});
type Head = z.output<typeof headSchema>;

/** What came of reading the file: facts that are known again, and lines that said nothing of use. */
interface Restored {
  readonly facts: number;
  readonly refused: number;
}

/**
 * The facts of a master as one file of lines, so that a restart keeps what was learned. It is written as a whole and takes the
 * old one's place at once. What is damaged in it is left out: nothing in it cannot be learned again.
 */
export class FactsFile {
  readonly #state: StateFolder;
  readonly #head: Head | undefined;
  /** Without a head nobody knows how old they are. */
  readonly #damaged: number;
  #lines: readonly string[];

  /** Reads the file, where there is one. */
  constructor(state: StateFolder) {
    this.#state = state;
    const read = readLines(state);
    const [head = '', ...lines] = read;
    this.#head = readHead(head);
    this.#damaged = this.#head ? 0 : read.length;
    this.#lines = this.#head ? lines : [];
  }

  /** An epoch after all that the file knows of, also where the clock was set back since. */
  epochAfter(nowMs: number): number {
    return Math.max(Math.floor(nowMs), (this.#head?.epoch ?? 0) + 1);
  }

  /** Lets facts be known again, as much older as the file is. */
  restore(facts: Facts, nowMs: number): Restored {
    const passedMs = Math.max(0, nowMs - (this.#head?.savedAtMs ?? nowMs));
    let taken = 0;
    for (const line of this.#lines) if (restoreOne(facts, line, passedMs, nowMs)) taken += 1;
    const refused = this.#lines.length - taken + this.#damaged;
    this.#lines = [];
    return { facts: taken, refused };
  }

  /** Replaces the file. Throws `state-unusable` where the disk says no; then the last one stays. */
  save(facts: Facts, nowMs: number): Promise<void> {
    return this.#state.saveParts(FILE, partsOf(facts, nowMs));
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

function restoreOne({ store, source, epoch }: Facts, line: string, passedMs: number, nowMs: number): boolean {
  const told = readFact(asJson(line));
  // It would stay in the way of what this process learns.
  if (told?.source === source && told.epoch > epoch) return false;
  const value = told && store.check(told.kind, told.value);
  if (!told || !value?.ok) return false;
  const { ageMs, ...fact } = told;
  const taken = store.take({ ...fact, timeMs: nowMs - ageMs - passedMs, value: value.value }, nowMs);
  return taken.ok && taken.value;
}

function readLines(state: StateFolder): string[] {
  try {
    return (state.read(FILE) ?? '').split('\n').filter((line) => line !== '');
  } catch (failure) {
    // A file that cannot be read is one that is damaged, and the next one takes its place.
    if (failure instanceof LonghaulError) return [failure.message];
    throw failure;
  }
}

function readHead(line: string): Head | undefined {
  return headSchema.safeParse(asJson(line)).data;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
