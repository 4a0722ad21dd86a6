import type { ErrorCode } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import { MOST_TEXT_CHARS, type StateBus } from '../bus/state-bus.ts';
import { DelayWatch } from './delay-watch.ts';
import { type Fact, isAfter, type Stamp } from './fact.ts';
import { FactMarks, MOST_SOURCES } from './fact-marks.ts';
import {
  factText,
  type Mark,
  messageText,
  readFact,
  readPart,
  readQuestion,
  readTelling,
} from './fact-message.ts';
import type { Facts } from './facts.ts';

/**
 * What is learned waits so long for more that goes along with it; of a thing that changes meanwhile only the
 * last is told.
 */
const GATHER_MS = 100;
/** Facts told in one turn of the event loop. */
const MOST_AT_ONCE = 1_000;
/** Others are asked for what is missing after about this time, whatever has come ... */
const ASK_MS = 20_000;
/** ... and so soon after something turned out to be missing, unless it has come meanwhile. */
const ASK_SOON_MS = 300;
/**
 * Two masters of one name would outdo each other's epochs for ever, and tell everything again each time: so
 * often at most.
 */
const GO_ON_MS = 60_000;
/**
 * A master says so often what it holds, so that others see what they miss within a second, even the last
 * before a silence.
 */
const BEAT_MS = 500;
/**
 * A master that was heard so lately speaks for itself: others are believed no more of it than it has said,
 * unless six of its beats were lost.
 */
const SPEAKS_MS = 3_000;
/**
 * Ten years: epochs are by clocks, of which some are wrong by the year. One far beyond would leave its master
 * none to go on in.
 */
const MOST_AHEAD_MS = 10 * 365 * 86_400_000;

/** Why a fact is not taken in. */
type Doubt = ErrorCode | 'not-said-yet';

/** How far a master says that it has come, and when it was heard last, by the steady clock. */
interface Word {
  readonly epoch: number;
  readonly upTo: number;
  readonly heardMs: number;
}

interface FactExchangeInit {
  readonly facts: Facts;
  readonly bus: StateBus;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Told of facts that were refused, and from whom they came. */
  readonly onRefused: (code: ErrorCode, from: string, facts: number) => void;
}

/**
 * Shares facts with other masters: tells them what is learned here, takes in what they tell after checking
 * it, and asks one of them from time to time for what is missing, so that nothing lost stays lost. Whoever
 * joins late asks for everything.
 */
export class FactExchange {
  readonly #init: FactExchangeInit;
  /** What each other master has last said of itself. */
  readonly #words = new LruMap<string, Word>(MOST_SOURCES);
  readonly #marks = this.#noMarks();
  /** What others have said that they hold since somebody was last asked. */
  #held = this.#noMarks();
  readonly #delays = new DelayWatch();
  /** Learned and not told yet, in the order of their sequences: of each thing the last. */
  readonly #untold = new Map<string, Fact>();
  #toldUpTo = 0;
  #telling: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #beating: NodeJS.Timeout | undefined;
  #asksAtMs = Number.POSITIVE_INFINITY;
  #asked: Promise<boolean> | undefined;
  /** Whether this process has been told what earlier ones of this master had learned. */
  #isRemembered = false;
  /** When an epoch of others' was last gone after, by the steady clock. */
  #wentOnAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(init: FactExchangeInit) {
    this.#init = init;
    const { facts, bus } = init;
    facts.tellOthers((fact) => this.#gather(fact));
    bus.subscribe((text, from) => this.#hear(text, from));
    bus.answer((text, from) => this.#answer(text, from));
    bus.onReached(() => {
      // What was told meanwhile is missing, on both sides.
      void this.ask();
      this.beat();
    });
  }

  /** Whether another master has told what it knows, or there is none. */
  get hasCaughtUp(): boolean {
    return this.#isRemembered || this.#init.bus.status().isAlone;
  }

  /** Asks for everything, then for what is missing, until `close`. */
  async start(): Promise<void> {
    this.#beating = setInterval(() => this.beat(), BEAT_MS).unref();
    this.#askIn(ASK_MS);
    if (!this.#init.bus.status().isAlone) await this.ask();
  }

  async close(): Promise<void> {
    while (this.#untold.size > 0) this.tell();
    this.#isClosed = true;
    clearTimeout(this.#telling);
    clearTimeout(this.#asking);
    clearInterval(this.#beating);
    await this.#init.bus.close();
  }

  /** Tells the others what has been gathered, as much as fits one turn. */
  tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const { facts, bus, now, steadyMs } = this.#init;
    const { source, epoch } = facts;
    const told = [...this.#untold].slice(0, MOST_AT_ONCE);
    for (const [thing] of told) this.#untold.delete(thing);
    const ripe = told.map(([, fact]) => fact);
    for (const { texts, last } of inParts(ripe, now())) {
      const head = { type: 'learned', source, epoch, sentMs: steadyMs() } as const;
      bus.publish(messageText({ ...head, after: this.#toldUpTo, upTo: last.sequence }, texts));
      this.#toldUpTo = last.sequence;
    }
    if (this.#untold.size > 0) this.#telling = setTimeout(() => this.tell(), 0).unref();
  }

  /** Says that this master is there, and what it holds. */
  beat(): void {
    const { facts, bus, steadyMs } = this.#init;
    if (this.#isClosed || bus.status().isAlone) return;
    const { source, epoch } = facts;
    const told = this.#toldUpTo;
    const head = { type: 'learned', source, epoch, sentMs: steadyMs(), after: told, upTo: told } as const;
    bus.publish(messageText({ ...head, have: this.#marks.allBut(source) }, []));
  }

  /**
   * Asks one of the others for what is missing; `false` where nobody answers. Calls that overlap share one
   * question.
   */
  ask(): Promise<boolean> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #ask(): Promise<boolean> {
    const { facts, bus } = this.#init;
    const { source } = facts;
    const own = this.#isRemembered ? [this.#ownMark()] : [];
    const have = [...this.#marks.allBut(source), ...own];
    let later = 0;
    /** Of these something was not taken that may have been said since: what others hold of them is not held here. */
    const unsaid = new Set<string>();
    const outcome = await bus.request(JSON.stringify({ type: 'ask', have }), (text, from) => {
      const part = readPart(text);
      if (!part) {
        this.#refuse('fact-malformed', from, 1);
        return;
      }
      this.#takeAll(part.facts, from, (fact) => {
        const doubt = this.#doubtOf(fact, from);
        if (fact.source === source && !doubt) later = Math.max(later, fact.epoch);
        if (doubt === 'not-said-yet') unsaid.add(fact.source);
        return doubt;
      });
      if (!part.have) return;
      // The last part: everything before it has come.
      const have = this.#credible(part.have, from);
      this.#marks.adopt(have.filter((mark) => mark.source !== source && !unsaid.has(mark.source)));
      this.#isRemembered = true;
      this.#goOnAfter(Math.max(later, epochOf(source, have)));
      // Whoever holds more, and is there, says so again: what nobody holds any more is not asked for for ever.
      this.#held = this.#noMarks();
    });
    return outcome.ok;
  }

  *#answer(text: string, from: string): Generator<string> {
    const { facts, now } = this.#init;
    const question = readQuestion(text);
    if (!question) {
      this.#refuse('fact-malformed', from, 1);
      return;
    }
    const have = [...this.#marks.allBut(facts.source), this.#ownMark()];
    const missing = beyond(facts.store.facts(), question.have);
    for (const { texts } of inParts(missing, now())) yield messageText({ type: 'held' }, texts);
    yield messageText({ type: 'held', have }, []);
  }

  #ownMark(): Mark {
    const { source, newest } = this.#init.facts;
    return { source, epoch: newest.epoch, upTo: newest.sequence };
  }

  #hear(text: string, from: string): void {
    const { steadyMs } = this.#init;
    const told = readTelling(text);
    if (!told) return this.#refuse('fact-malformed', from, 1);
    const { source, epoch, sentMs } = told;
    if (source !== from || source === this.#init.facts.source) {
      return this.#refuse('fact-not-its-own', from, told.facts.length);
    }
    // What an earlier process has said comes from the others, if they still hold it, with its age: what is
    // told again may be of any age. Which one is earlier each master says for itself: nobody makes another
    // one's words be those of a past process.
    const before = this.#words.get(source);
    const isPast = epoch < (before?.epoch ?? 0);
    const upTo = before?.epoch === epoch ? Math.max(before.upTo, told.upTo) : told.upTo;
    if (!isPast) this.#words.set(source, { epoch, upTo, heardMs: steadyMs() });
    const have = this.#credible(told.have ?? [], from);
    this.#held.adopt([told, ...have.filter((mark) => mark.source !== this.#init.facts.source)]);
    this.#goOnAfter(epochOf(this.#init.facts.source, have));
    if (this.#delays.isLate(`${source} ${epoch}`, sentMs, steadyMs()) || isPast) {
      this.#refuse('fact-stale', from, told.facts.length);
    } else {
      this.#takeAll(told.facts, from, (fact) =>
        fact.source === from && fact.epoch === epoch ? undefined : 'fact-not-its-own',
      );
      this.#marks.advance(told);
    }
    if (this.#marks.isBehind(this.#held)) this.#askIn(ASK_SOON_MS, () => this.#marks.isBehind(this.#held));
  }

  /**
   * Others hold more by this master's name than it has said in its epoch: they would take nothing of what it
   * says now.
   */
  #goOnAfter(epoch: number): void {
    const { facts, now, steadyMs } = this.#init;
    if (epoch <= facts.epoch || steadyMs() - this.#wentOnAtMs < GO_ON_MS) return;
    this.#untold.clear();
    if (!facts.goOnAfter(epoch, now())) return;
    this.#wentOnAtMs = steadyMs();
    this.#toldUpTo = 0;
    // What it had learned in that epoch it may take now.
    this.#isRemembered = false;
    this.#askIn(ASK_SOON_MS);
  }

  /** Of what somebody says that he holds, as much as can be believed; what never could be is refused. */
  #credible(have: readonly Mark[], from: string): Mark[] {
    const believed: Mark[] = [];
    let far = 0;
    for (const mark of have) {
      const most = this.#mostOf(mark, from);
      if (most === 'too-far') far += 1;
      else if (mark.epoch <= most.epoch)
        believed.push(mark.epoch < most.epoch ? mark : { ...mark, upTo: Math.min(mark.upTo, most.sequence) });
    }
    if (far > 0) this.#refuse('fact-of-far-epoch', from, far);
    return believed;
  }

  /** Why a fact that somebody passes on is not taken: now, or ever. */
  #doubtOf(fact: Fact, from: string): Doubt | undefined {
    const most = this.#mostOf(fact, from);
    if (most === 'too-far') return 'fact-of-far-epoch';
    return isAfter(fact, most) ? 'not-said-yet' : undefined;
  }

  /** How far somebody is believed that a source has come: while it is heard itself, no further than it says. */
  #mostOf({ source, epoch }: Pick<Mark, 'source' | 'epoch'>, from: string): Stamp | 'too-far' {
    const { now, steadyMs } = this.#init;
    const word = this.#words.get(source);
    const isHeard = word !== undefined && steadyMs() - word.heardMs < SPEAKS_MS;
    if (source !== from && epoch > Math.max(word?.epoch ?? 0, now() + MOST_AHEAD_MS)) return 'too-far';
    if (source === from || !isHeard) return { epoch, sequence: Number.POSITIVE_INFINITY };
    return { epoch: word.epoch, sequence: word.upTo };
  }

  #noMarks(): FactMarks {
    return new FactMarks((source) => this.#words.get(source) !== undefined);
  }

  #takeAll(values: readonly unknown[], from: string, doubtOf: (fact: Fact) => Doubt | undefined): void {
    const refused = new Map<ErrorCode, number>();
    for (const value of values) {
      const code = this.#take(value, doubtOf);
      // Its source is about to say so itself: then it is told, or asked for.
      if (code && code !== 'not-said-yet') refused.set(code, (refused.get(code) ?? 0) + 1);
    }
    for (const [code, count] of refused) this.#refuse(code, from, count);
  }

  /** Takes in a fact of somebody else; the code where it is refused. */
  #take(told: unknown, doubtOf: (fact: Fact) => Doubt | undefined): Doubt | undefined {
    const { facts, now } = this.#init;
    const read = readFact(told);
    const value = read && facts.store.check(read.kind, read.value);
    if (!read || !value?.ok) return 'fact-malformed';
    const { kind, key, source, epoch, sequence } = read;
    const fact = { kind, key, source, epoch, sequence, timeMs: now() - read.ageMs, value: value.value };
    const isOfHere = source === facts.source;
    // What this process has learned itself nobody else knows better.
    const isOurs = isOfHere && !isAfter(fact, facts.newest);
    if (isOurs && epoch === facts.epoch) return undefined;
    const doubt = doubtOf(fact) ?? (isOfHere && !isOurs ? 'fact-not-its-own' : undefined);
    if (doubt) return doubt;
    if (!this.#marks.admit(fact.source)) return 'fact-room-full';
    const taken = facts.store.take(fact, now());
    return taken.ok ? undefined : taken.error.code;
  }

  #gather(fact: Fact): void {
    if (this.#isClosed) return;
    if (this.#init.bus.status().isAlone) {
      // Whoever comes asks for it.
      this.#untold.clear();
      this.#toldUpTo = fact.sequence;
      return;
    }
    const thing = `${fact.kind} ${fact.key}`;
    // Behind all others, as its sequence is.
    this.#untold.delete(thing);
    this.#untold.set(thing, fact);
    this.#telling ??= setTimeout(() => this.tell(), GATHER_MS).unref();
  }

  #askIn(waitMs: number, isNeeded = () => true): void {
    // Not all at the same time.
    const dueMs = this.#init.steadyMs() + waitMs * (0.75 + Math.random() / 2);
    if (this.#isClosed || dueMs >= this.#asksAtMs) return;
    clearTimeout(this.#asking);
    this.#asksAtMs = dueMs;
    this.#asking = setTimeout(() => {
      this.#asksAtMs = Number.POSITIVE_INFINITY;
      this.#askIn(ASK_MS);
      if (isNeeded() && !this.#init.bus.status().isAlone) void this.ask();
    }, dueMs - this.#init.steadyMs()).unref();
  }

  #refuse(code: ErrorCode, from: string, facts: number): void {
    this.#init.onRefused(code, from, facts);
  }
}

/** Up to which epoch of a source anything is held by whoever has these marks. */
function epochOf(source: string, have: readonly Mark[]): number {
  return have.find((mark) => mark.source === source)?.epoch ?? 0;
}

/** The facts that somebody with these marks does not hold. */
function* beyond(facts: Iterable<Fact>, have: readonly Mark[]): Generator<Fact> {
  const marks = new Map(have.map(({ source, epoch, upTo }) => [source, { epoch, sequence: upTo }]));
  for (const fact of facts) {
    const mark = marks.get(fact.source);
    if (!mark || isAfter(fact, mark)) yield fact;
  }
}

/** Facts as texts, as many together as one message may have. */
function* inParts(facts: Iterable<Fact>, nowMs: number): Generator<{ texts: string[]; last: Fact }> {
  let texts: string[] = [];
  let chars = 0;
  let last: Fact | undefined;
  for (const fact of facts) {
    const text = factText(fact, nowMs);
    if (last && chars + text.length > MOST_TEXT_CHARS - HEAD_CHARS) {
      yield { texts, last };
      texts = [];
      chars = 0;
    }
    texts.push(text);
    chars += text.length + 1;
    last = fact;
  }
  if (last) yield { texts, last };
}

/** What else stands in a message than its facts. */
const HEAD_CHARS = 1_000;
