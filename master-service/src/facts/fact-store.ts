import { ok, type Result, refuse } from '@longhaul/shared';
import { FairRoom, OrderedMap } from '@longhaul/shared/service';
import * as z from 'zod';
import { type Fact, type FactKind, isAfter, isYounger } from './fact.ts';

/** Kinds that only newer masters know, at once: their facts are kept and passed on, and nobody here reads them. */
const MOST_UNKNOWN_KINDS = 32;
/** Facts of one source and one kind that only newer masters know. */
const MOST_UNKNOWN_FACTS = 2_000;
/** Characters of the value of such a fact as JSON: what is told of a depot or a link has some hundred. */
const MOST_UNKNOWN_CHARS = 16_384;
/** How long a fact of such a kind is kept. */
const UNKNOWN_LIFE_MS = 3_600_000;
/** How the name of a kind looks. */
const KIND_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** Told of each change: what a source says now (`undefined` when it was forgotten), and what it said before. */
export type Watcher<Value> = (now: Fact<Value> | undefined, before: Fact<Value> | undefined) => void;

interface Table {
  readonly kind: FactKind<unknown>;
  /** Of each source its facts by key, the one that was replaced longest ago first. */
  readonly bySource: Map<string, OrderedMap<string, Fact>>;
  readonly room: FairRoom;
  /** Keys of what says nothing any more, by source: it goes when its room is needed. */
  readonly spare: Map<string, Set<string>>;
  readonly watchers: Set<Watcher<unknown>>;
}

/** Every fact that this master holds: of each kind, key and source the newest. Bounded for each source and over all. */
export class FactStore {
  readonly #tables = new Map<string, Table>();
  /** Whose times are by another clock than this process's. */
  readonly #fixed = new WeakSet<Fact>();
  /** The kinds that are read here. */
  readonly #read: ReadonlySet<string>;

  constructor(kinds: readonly FactKind<unknown>[]) {
    for (const kind of kinds) this.#add(kind);
    this.#read = new Set(this.#tables.keys());
  }

  /**
   * Takes in a fact whose value fits its kind; `false` when it says nothing new. `fact-malformed` where kind
   * or key cannot be, `fact-outlived`, `fact-room-full`.
   */
  take(fact: Fact, nowMs: number): Result<boolean> {
    const table = this.#tables.get(fact.kind) ?? this.#addUnknown(fact.kind);
    if (!table?.kind.keys.test(fact.key)) return refuse('fact-malformed');
    if (nowMs - fact.timeMs > table.kind.lifeMs) return refuse('fact-outlived');
    const facts = table.bySource.get(fact.source);
    const before = facts?.get(fact.key);
    if (before && !isAfter(fact, before)) return ok(false);
    if (!before && !this.#makeRoom(table, fact.source)) return refuse('fact-room-full');
    // Room may have been made by forgetting all that the source had.
    const held = table.bySource.get(fact.source) ?? new OrderedMap<string, Fact>();
    if (held.size === 0) table.bySource.set(fact.source, held);
    // Behind all others: it was replaced last.
    held.setLast(fact.key, fact);
    unmark(table.spare, fact);
    for (const watcher of table.watchers) watcher(fact, before);
    return ok(true);
  }

  /** Replaces what a source says of a thing by what it says under the same stamp. */
  revise(fact: Fact): void {
    const table = this.#tables.get(fact.kind);
    const held = table?.bySource.get(fact.source);
    const before = held?.get(fact.key);
    if (!table || !held || !before) return;
    held.setLast(fact.key, fact);
    for (const watcher of table.watchers) watcher(fact, before);
  }

  /**
   * Whether there is room for what a source may say of a thing: it says something of it already, or there is
   * place for one more. What is spare goes for it.
   */
  hasRoomFor(kind: FactKind<unknown>, key: string, source: string): boolean {
    const table = this.#table(kind);
    if (table.bySource.get(source)?.get(key)) return true;
    return hasPlace(table, source) || (kind.whenFull === 'refuse' ? this.#forgetSpare(table, source) : true);
  }

  /**
   * Takes note that a fact says nothing any more: of a kind whose facts are refused when there is no room, it
   * goes when its room is needed.
   */
  spare(fact: Fact): void {
    const table = this.#tables.get(fact.kind);
    if (!table?.bySource.get(fact.source)?.get(fact.key)) return;
    table.spare.set(fact.source, (table.spare.get(fact.source) ?? new Set()).add(fact.key));
  }

  /** Whether a value fits its kind, as it is kept then; anything where only a newer master knows the kind. */
  check(kind: string, value: unknown): Result<unknown> {
    const known = this.#tables.get(kind)?.kind;
    if (known?.fits?.(value)) return ok(value);
    const chars = this.#read.has(kind) ? 0 : (JSON.stringify(value) ?? '').length;
    if (chars > MOST_UNKNOWN_CHARS) return refuse('fact-malformed');
    const parsed = (known?.schema ?? z.unknown()).safeParse(value);
    return parsed.success ? ok(parsed.data) : refuse('fact-malformed');
  }

  /** What each source says of a thing. */
  all<Value>(kind: FactKind<Value>, key: string): Fact<Value>[] {
    const facts: Fact<Value>[] = [];
    for (const held of this.#table(kind).bySource.values()) {
      const fact = held.get(key);
      if (fact) facts.push(fact as Fact<Value>);
    }
    return facts;
  }

  newest<Value>(kind: FactKind<Value>, key: string): Fact<Value> | undefined {
    let newest: Fact | undefined;
    for (const held of this.#table(kind).bySource.values()) {
      const fact = held.get(key);
      if (fact && (!newest || isYounger(fact, newest))) newest = fact;
    }
    return newest as Fact<Value> | undefined;
  }

  /** What one source says of a thing. */
  of<Value>(kind: FactKind<Value>, key: string, source: string): Fact<Value> | undefined {
    return this.#table(kind).bySource.get(source)?.get(key) as Fact<Value> | undefined;
  }

  /** All facts of one kind. */
  held<Value>(kind: FactKind<Value>): Fact<Value>[] {
    const { bySource } = this.#table(kind);
    return [...bySource.values()].flatMap((held) => [...held.values()]) as Fact<Value>[];
  }

  /** All facts of all kinds. They may change while somebody goes through them. */
  *facts(): Generator<Fact> {
    for (const { bySource } of this.#tables.values()) {
      for (const held of bySource.values()) yield* held.values();
    }
  }

  /** Facts held, by kind. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#tables].map(([name, { room }]) => [name, room.used]));
  }

  isKept(kind: string): boolean {
    return this.#tables.get(kind)?.kind.isKept ?? false;
  }

  /** Calls `watcher` with every change of one kind from now on, before `take` returns. */
  watch<Value>(kind: FactKind<Value>, watcher: Watcher<Value>): void {
    this.#table(kind).watchers.add(watcher as Watcher<unknown>);
  }

  /** Forgets what all sources say of a thing, or one of them. */
  forget(kind: FactKind<unknown>, key: string, only?: string): void {
    const table = this.#table(kind);
    const sources = only === undefined ? [...table.bySource.keys()] : [only];
    for (const source of sources) this.#forget(table, source, key);
  }

  /**
   * Takes note that the time of what a source says of a thing, until it says something else, is by a clock
   * before this process: the one of now may be set.
   */
  fixTime(kind: string, key: string, source: string): void {
    const fact = this.#tables.get(kind)?.bySource.get(source)?.get(key);
    if (fact) this.#fixed.add(fact);
  }

  /** Moves the times of all facts but those that are fixed: the clock that they are by was set. */
  shift(byMs: number): void {
    for (const { bySource, watchers } of this.#tables.values()) {
      for (const held of bySource.values()) {
        for (const [key, before] of held) {
          if (this.#fixed.has(before)) continue;
          const fact = { ...before, timeMs: before.timeMs + byMs };
          held.set(key, fact);
          for (const watcher of watchers) watcher(fact, before);
        }
      }
    }
  }

  /** Forgets what is older than its kind may be. */
  sweep(nowMs: number): void {
    for (const table of this.#tables.values()) {
      if (table.kind.lifeMs === Number.POSITIVE_INFINITY) continue;
      for (const [source, held] of table.bySource) {
        for (const [key, { timeMs }] of held) {
          // About in the order of their times; who reads them looks at the time itself.
          if (nowMs - timeMs <= table.kind.lifeMs) break;
          this.#forget(table, source, key);
        }
      }
    }
  }

  #table<Value>(kind: FactKind<Value>): Table {
    const table = this.#tables.get(kind.name);
    if (!table) throw new Error(`facts of the kind ${kind.name} are not held here`);
    return table;
  }

  #makeRoom(table: Table, source: string): boolean {
    const { kind, room } = table;
    const take = () => hasPlace(table, source) && room.take(source, 1);
    if (kind.whenFull === 'refuse') return take() || (this.#forgetSpare(table, source) && take());
    // Where another source has come to speak, one has more than its share now: as much as that goes of its own.
    while (!take()) {
      const oldest = table.bySource.get(source)?.oldest;
      if (oldest === undefined) return false;
      this.#forget(table, source, oldest);
    }
    return true;
  }

  /** Forgets as much of what is spare as makes place for one more fact of a source; `false` where that makes none. */
  #forgetSpare(table: Table, source: string): boolean {
    const { kind, room, spare } = table;
    // Where it has as much as one may have, nothing that others have said is in its way.
    const holders = room.usedBy(source) < kind.most ? [...spare.keys()] : [source];
    for (const holder of holders) {
      for (const key of spare.get(holder) ?? []) {
        this.#forget(table, holder, key);
        if (hasPlace(table, source)) return true;
      }
    }
    return false;
  }

  #forget(table: Table, source: string, key: string): void {
    const held = table.bySource.get(source);
    const before = held?.get(key);
    if (!held || !before) return;
    held.delete(key);
    if (held.size === 0) table.bySource.delete(source);
    table.room.giveBack(source, 1);
    unmark(table.spare, before);
    for (const watcher of table.watchers) watcher(undefined, before);
  }

  #add(kind: FactKind<unknown>): Table {
    // One source alone gets half of a room, but no more than its most.
    const room = new FairRoom(Math.max(2, kind.speakers ?? 2) * kind.most);
    const watchers = new Set<Watcher<unknown>>();
    const table: Table = { kind, bySource: new Map(), room, spare: new Map(), watchers };
    this.#tables.set(kind.name, table);
    return table;
  }

  #addUnknown(name: string): Table | undefined {
    if (this.#tables.size - this.#read.size >= MOST_UNKNOWN_KINDS || !KIND_NAME.test(name)) return undefined;
    return this.#add({
      name,
      schema: z.unknown(),
      keys: /^.{1,300}$/,
      most: MOST_UNKNOWN_FACTS,
      whenFull: 'forget-oldest',
      lifeMs: UNKNOWN_LIFE_MS,
      isKept: false,
    });
  }
}

function hasPlace({ kind, room }: Table, source: string): boolean {
  return room.usedBy(source) < kind.most && room.hasRoomFor(source, 1);
}

function unmark(spare: Table['spare'], { source, key }: Fact): void {
  const keys = spare.get(source);
  keys?.delete(key);
  if (keys?.size === 0) spare.delete(source);
}
