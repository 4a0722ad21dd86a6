import type { Fact, FactKind } from './fact.ts';
import type { Facts } from './facts.ts';
import { SpeakerRoom } from './speaker-room.ts';
import { keyOf, partsOf } from './two-part-keys.ts';

interface ToldByDepotsInit<Value> {
  readonly facts: Facts;
  /** Its keys are `<depot> <thing>`. */
  readonly kind: FactKind<Value>;
  /** Called with each change, when it stands here. */
  readonly onChange?: (
    depot: string,
    thing: string,
    now: Fact<Value> | undefined,
    before: Fact<Value> | undefined,
  ) => void;
}

/**
 * What depots tell of things, such as client networks or origins: a replica of facts, by thing and depot, of
 * each the newest whichever master was told it. The room is shared among the depots.
 */
export class ToldByDepots<Value> {
  readonly #init: ToldByDepotsInit<Value>;
  readonly #told = new Map<string, Map<string, Fact<Value>>>();
  readonly #room: SpeakerRoom<Value>;

  constructor(init: ToldByDepotsInit<Value>) {
    const { facts, kind } = init;
    this.#init = init;
    facts.store.watch(kind, (now, before) => this.#refresh((now ?? before)?.key));
    this.#room = new SpeakerRoom({ facts, kind });
  }

  /** Things of which anything is told. */
  get size(): number {
    return this.#told.size;
  }

  /** What is told of a thing, by depot. */
  of(thing: string): ReadonlyMap<string, Fact<Value>> {
    return this.#told.get(thing) ?? NOTHING;
  }

  /** Takes in what a depot tells of a thing, in the place of what it has told before. */
  learn(depot: string, thing: string, value: Value, nowMs: number): void {
    this.#room.learn(keyOf(depot, thing), value, nowMs);
  }

  /** Takes in what comes of what it has told before, as {@link SpeakerRoom.update}. */
  update(
    depot: string,
    thing: string,
    nowMs: number,
    next: (known: Value | undefined, passedMs: number) => Value,
  ): void {
    this.#room.update(keyOf(depot, thing), nowMs, next);
  }

  /** The things of which a depot has told. */
  thingsOf(depot: string): string[] {
    return [...this.#told].flatMap(([thing, byDepot]) => (byDepot.has(depot) ? [thing] : []));
  }

  /** Forgets what a depot has told: it is not believed any more. */
  forgetFrom(depot: string): void {
    const { facts, kind } = this.#init;
    for (const thing of this.thingsOf(depot)) facts.store.forget(kind, keyOf(depot, thing));
  }

  /** Takes over what the newest source says. */
  #refresh(key: string | undefined): void {
    if (key === undefined) return;
    const [depot, thing] = partsOf(key);
    const byDepot = this.#told.get(thing) ?? new Map<string, Fact<Value>>();
    const before = byDepot.get(depot);
    const now = this.#init.facts.store.newest(this.#init.kind, key);
    if (now) byDepot.set(depot, now);
    else byDepot.delete(depot);
    if (byDepot.size > 0) this.#told.set(thing, byDepot);
    else this.#told.delete(thing);
    this.#init.onChange?.(depot, thing, now, before);
  }
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
