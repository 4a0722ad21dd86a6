import type { ErrorCode } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import type { FactKind } from './fact.ts';
import { FactExchange } from './fact-exchange.ts';
import { Facts } from './facts.ts';

const NOTE = {
  name: 'note',
  schema: z.looseObject({ text: z.string() }),
  keys: /^[a-z0-9]+$/,
  most: 1_000,
  whenFull: 'forget-oldest',
  lifeMs: 60_000,
  isKept: true,
} satisfies FactKind<unknown>;

/** A bus of which a test decides what becomes of each text. */
class UncertainBus extends InProcessBus {
  isCut = false;
  readonly sent: string[] = [];
  #take: (text: string, from: string) => void = () => {};

  override publish(text: string): void {
    this.sent.push(text);
    if (!this.isCut) super.publish(text);
  }

  override subscribe(take: (text: string, from: string) => void): void {
    this.#take = take;
    super.subscribe(take);
  }

  /** Lets a text arrive as if `from` had just told it. */
  arrive(text: string, from: string): void {
    this.#take(text, from);
  }
}

function meet() {
  const meeting: InProcessMeeting = new Set();
  const clock = { nowMs: 1_000_000 };
  const join = (source: string, epoch = 1, kinds: readonly FactKind<unknown>[] = [NOTE]) => {
    const facts = new Facts({ kinds, source, epoch });
    const bus = new UncertainBus(source, meeting);
    const refused: [ErrorCode, string, number][] = [];
    const exchange = new FactExchange({
      facts,
      bus,
      now: () => clock.nowMs,
      steadyMs: () => clock.nowMs,
      onRefused: (...what) => refused.push(what),
    });
    return {
      facts,
      bus,
      exchange,
      refused,
      learn: (key: string, text: string) => facts.learn(NOTE, key, { text }, clock.nowMs),
      /** What it knows: of each thing and source the text, and when it was learned. */
      view: () =>
        [...facts.store.facts()]
          .map(({ key, source: from, value, timeMs }) => `${from} ${key} ${JSON.stringify(value)} ${timeMs}`)
          .toSorted(),
    };
  };
  return { clock, join };
}

describe('masters that share facts', () => {
  test('know what another one has learned, as old as it is there', async () => {
    const { clock, join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.learn('a', 'first');
    clock.nowMs += 50;
    one.learn('b', 'second');
    one.exchange.tell();
    await expect.poll(two.view).toHaveLength(2);
    expect(two.view()).toEqual(one.view());
    expect(two.facts.store.newest(NOTE, 'a')).toMatchObject({ source: 'one', timeMs: clock.nowMs - 50 });
  });

  test('are told only the last of what changed often', () => {
    const { join } = meet();
    const [one] = [join('one'), join('two')];
    for (let index = 0; index < 100; index += 1) one.learn('a', `text ${index}`);
    one.exchange.tell();
    expect(one.bus.sent).toHaveLength(1);
    expect(JSON.parse(one.bus.sent[0] ?? '')).toMatchObject({
      after: 0,
      upTo: 100,
      facts: [{ sequence: 100, value: { text: 'text 99' } }],
    });
  });

  test('are told after a while of what has hardly changed, at once of what has, and never of much else than is known where it was learned', async () => {
    const { clock, join } = meet();
    const level = {
      ...NOTE,
      name: 'level',
      schema: z.number(),
      isNear: (value: number, told: number) => Math.abs(value - told) < 1,
    } satisfies FactKind<number>;
    const [one, two] = [join('one', 1, [level]), join('two', 1, [level])];
    const known: [number, number | undefined][] = [];
    for (const value of [5, 5.4, 5.9, 6.1, 6.5, 6.6]) {
      one.facts.learn(level, 'a', value, clock.nowMs);
      one.exchange.tell();
      await new Promise((resolve) => setImmediate(resolve));
      known.push([value, two.facts.store.newest(level, 'a')?.value]);
      expect(one.facts.store.newest(level, 'a')).toMatchObject({ value, timeMs: clock.nowMs });
      clock.nowMs += 2_000;
    }
    const told = (upTo: number) => known.slice(0, upTo).map(([, value]) => value);
    expect(told(5)).toEqual([5, 5, 5, 6.1, 6.1]);
    const late = join('late', 1, [level]);
    await late.exchange.start();
    // Whomever it has asked.
    expect([6.1, 6.6]).toContain(late.facts.store.newest(level, 'a')?.value);
    clock.nowMs += 24_000;
    one.facts.learn(level, 'a', 6.7, clock.nowMs);
    one.exchange.tell();
    for (const { facts } of [two, late]) {
      await expect.poll(() => facts.store.newest(level, 'a')?.value).toBe(6.7);
    }
    await late.exchange.close();
  });

  test('join late and ask for everything, of whomever it is', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    for (let index = 0; index < 500; index += 1) one.learn(`a${index}`, 'x'.repeat(1000));
    two.learn('b', 'of two');
    one.exchange.tell();
    await expect.poll(() => two.view().length).toBe(501);
    await one.exchange.close();
    const three = join('three');
    await three.exchange.start();
    expect(three.view()).toEqual(two.view());
    await three.exchange.close();
  });

  test('ask again for what got lost, and then for nothing', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.bus.isCut = true;
    one.learn('a', 'lost');
    one.exchange.tell();
    one.bus.isCut = false;
    one.learn('b', 'heard');
    one.exchange.tell();
    await expect.poll(() => two.view().length).toBe(1);
    expect(await two.exchange.ask()).toBe(true);
    expect(two.view()).toEqual(one.view());
    let parts = 0;
    one.bus.answer(function* () {
      parts += 1;
      yield JSON.stringify({ type: 'held', facts: [], have: [] });
    });
    await two.exchange.ask();
    expect(parts).toBe(1);
  });

  test('notice that the last before a silence got lost', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.bus.isCut = true;
    one.learn('a', 'the last');
    one.exchange.tell();
    one.bus.isCut = false;
    one.exchange.beat();
    await expect.poll(two.view).toEqual(one.view());
  });

  test('are told by a third one of whom they cannot hear', async () => {
    const { join } = meet();
    const [one, two, three] = [join('one'), join('two'), join('three')];
    // One hears nothing of three itself, and asks nobody else than two.
    three.bus.publish = (text) => two.bus.arrive(text, 'three');
    three.bus.answer(() => []);
    three.learn('a', 'around the cut');
    three.exchange.tell();
    expect(one.view()).toEqual([]);
    two.exchange.beat();
    await expect
      .poll(
        () => {
          two.exchange.beat();
          return one.view();
        },
        { timeout: 10_000 },
      )
      .toEqual(three.view());
  });

  test('do not ask for ever for what somebody held who is gone', async ({ onTestFinished }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    let asked = 0;
    two.bus.answer(function* () {
      asked += 1;
      yield JSON.stringify({ type: 'held', facts: [], have: [{ source: 'two', epoch: 1, upTo: 0 }] });
    });
    const told = { type: 'learned', source: 'gone', epoch: 1, sentMs: 0, after: 9, upTo: 9, facts: [] };
    one.bus.arrive(JSON.stringify(told), 'gone');
    for (let second = 0; second < 10; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      two.exchange.beat();
      // A question is answered in turns of the loop.
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(asked).toBe(1);
  });

  test('notice what got lost between two things that they heard', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    const tell = async (key: string, isLost: boolean) => {
      one.bus.isCut = isLost;
      one.learn(key, 'x');
      one.exchange.tell();
      one.bus.isCut = false;
      await new Promise((resolve) => setImmediate(resolve));
    };
    await two.exchange.ask();
    await tell('a', false);
    await tell('lost', true);
    await tell('b', false);
    expect(two.view()).toHaveLength(2);
    await two.exchange.ask();
    expect(two.view()).toEqual(one.view());
    await two.exchange.close();
  });

  test('get back after a restart what they had told before', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.learn('a', 'told before');
    one.exchange.tell();
    await expect.poll(() => two.view().length).toBe(1);
    await one.exchange.close();
    const again = join('one', 2);
    await again.exchange.start();
    expect(again.view()).toEqual(two.view());
    again.learn('a', 'told after');
    again.exchange.tell();
    await expect.poll(() => two.facts.store.newest(NOTE, 'a')?.value.text).toBe('told after');
    await again.exchange.close();
  });

  test('are heard again after a start with a clock that was set back and no file, and get back what they had told', async () => {
    const { join } = meet();
    const [one, two] = [join('one', 5_000), join('two')];
    one.learn('a', 'by a clock that was ahead');
    one.learn('b', 'told before');
    one.exchange.tell();
    await expect.poll(() => two.view().length).toBe(2);
    await one.exchange.close();
    const again = join('one', 2_000);
    again.learn('a', 'by the right clock');
    await again.exchange.start();
    await expect
      .poll(() => [again, two].map(({ view }) => view().join()))
      .toEqual(
        Array(2).fill('one a {"text":"by the right clock"} 1000000,one b {"text":"told before"} 1000000'),
      );
    again.learn('c', 'and on');
    again.exchange.tell();
    await expect.poll(() => two.facts.store.newest(NOTE, 'c')?.value.text).toBe('and on');
    await again.exchange.close();
  });

  test('of one name outdo each other once a minute, not for ever', async () => {
    const { clock, join } = meet();
    const [one, two] = [join('one', 1), join('two')];
    const claim = (epoch: number) =>
      one.bus.arrive(
        JSON.stringify({
          type: 'learned',
          source: 'two',
          epoch: 1,
          sentMs: clock.nowMs,
          after: 0,
          upTo: 0,
          facts: [],
          have: [
            {
              source: 'one',
              epoch,
              upTo: 1,
            },
          ],
        }),
        'two',
      );
    claim(10);
    expect(one.facts.epoch).toBe(11);
    clock.nowMs += 59_000;
    claim(20);
    expect(one.facts.epoch).toBe(11);
    clock.nowMs += 1_000;
    claim(Number.MAX_SAFE_INTEGER);
    expect(one.facts.epoch).toBe(11);
    claim(20);
    expect(one.facts.epoch).toBe(21);
    await two.exchange.close();
  });

  test('learn nothing from what was held up on its way, and ask for it instead', async () => {
    const { clock, join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.learn('a', 'in time');
    one.exchange.tell();
    await expect.poll(() => two.view().length).toBe(1);
    one.bus.isCut = true;
    one.learn('a', 'held up');
    one.exchange.tell();
    clock.nowMs += 27_000;
    two.bus.arrive(one.bus.sent.at(-1) ?? '', 'one');
    expect(two.refused).toEqual([['fact-stale', 'one', 1]]);
    expect(two.facts.store.newest(NOTE, 'a')?.value.text).toBe('in time');
    await two.exchange.ask();
    expect(two.facts.store.newest(NOTE, 'a')).toMatchObject({
      value: { text: 'held up' },
      timeMs: clock.nowMs - 27_000,
    });
  });

  test('learn from one whose machine has slept within seconds, though its steady clock stood still meanwhile', async () => {
    const { clock, join } = meet();
    const two = join('two');
    /** One tells something each half a second. */
    const hear = (sleptMs: number, from: number, to: number) => {
      for (let sequence = from; sequence <= to; sequence += 1) {
        clock.nowMs += 500;
        const head = { type: 'learned', source: 'one', epoch: 1, after: sequence - 1, upTo: sequence };
        const fact = { kind: 'note', key: 'a', source: 'one', epoch: 1, sequence, ageMs: 0 };
        const facts = [{ ...fact, value: { text: `text ${sequence}` } }];
        two.bus.arrive(JSON.stringify({ ...head, sentMs: clock.nowMs - sleptMs, facts }), 'one');
      }
      return two.facts.store.newest(NOTE, 'a')?.value.text;
    };
    expect(hear(0, 1, 10)).toBe('text 10');
    clock.nowMs += 60_000;
    expect(hear(60_000, 11, 20)).toBe('text 10');
    expect(two.refused.every(([code]) => code === 'fact-stale')).toBe(true);
    expect(hear(60_000, 21, 40)).toBe('text 40');
    const before = two.refused.length;
    expect(hear(60_000, 41, 60)).toBe('text 60');
    expect(two.refused).toHaveLength(before);
    await two.exchange.close();
  });

  test('pass on what only newer masters understand: fields, and whole kinds', async () => {
    const { clock, join } = meet();
    const newer = { ...NOTE, name: 'newer-kind' };
    const one = join('one', 1, [NOTE, newer]);
    const old = join('old');
    one.facts.learn(NOTE, 'a', { text: 'x', colour: 'green' } as { text: string }, clock.nowMs);
    one.facts.learn(newer, 'b', { text: 'y' }, clock.nowMs);
    one.exchange.tell();
    await expect.poll(() => old.view().length).toBe(2);
    await one.exchange.close();
    const three = join('three', 1, [NOTE, newer]);
    await three.exchange.start();
    expect(three.facts.store.newest(NOTE, 'a')?.value).toEqual({ text: 'x', colour: 'green' });
    expect(three.facts.store.newest(newer, 'b')?.value).toEqual({ text: 'y' });
    await three.exchange.close();
  });

  test('reach the same view over a bus that loses, repeats and reorders, once they have asked', async () => {
    const step = fc.record({
      source: fc.integer({ min: 0, max: 2 }),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      isTold: fc.boolean(),
      asks: fc.boolean(),
      arrivals: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { join } = meet();
        const masters = [join('one'), join('two'), join('three')];
        for (const { bus } of masters) bus.isCut = true;
        for (const [index, { source, key, isTold, asks, arrivals }] of steps.entries()) {
          const master = masters[source];
          master?.learn(key, `text ${index}`);
          if (isTold) master?.exchange.tell();
          if (asks) await masters[(source + 1) % 3]?.exchange.ask();
          for (const back of arrivals) {
            const text = master?.bus.sent.at(-1 - back);
            for (const other of text ? masters.filter((one) => one !== master) : []) {
              other.bus.arrive(text ?? '', master?.facts.source ?? '');
            }
          }
        }
        for (const { bus } of masters) bus.isCut = false;
        // Whom one asks is chance, so often enough.
        for (let round = 0; round < 12; round += 1) {
          for (const { exchange } of masters) {
            exchange.tell();
            exchange.beat();
            await exchange.ask();
          }
        }
        expect(masters[1]?.view()).toEqual(masters[0]?.view());
        expect(masters[2]?.view()).toEqual(masters[0]?.view());
        expect(masters.flatMap(({ refused }) => refused)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('what is told is refused, and counted,', () => {
  const fact = {
    kind: 'note',
    key: 'a',
    source: 'one',
    epoch: 1,
    sequence: 1,
    ageMs: 0,
    value: { text: 'x' },
  };
  const telling = { type: 'learned', source: 'one', epoch: 1, sentMs: 0, after: 0, upTo: 1 };
  const told = (changes: object, head: object = {}) =>
    JSON.stringify({ ...telling, ...head, facts: [{ ...fact, ...changes }] });

  test.each<[string, string, ErrorCode]>([
    ['that is no message', 'nonsense', 'fact-malformed'],
    ['whose value has not the form of its kind', told({ value: { text: 7 } }), 'fact-malformed'],
    ['about something that cannot be', told({ key: 'A B' }), 'fact-malformed'],
    ['of a kind that cannot be', told({ kind: '../kind' }), 'fact-malformed'],
    ['from the future', told({ ageMs: -1 }), 'fact-malformed'],
    ['that is older than it may be', told({ ageMs: 60_001 }), 'fact-outlived'],
    ["as another one's fact", told({ source: 'three' }), 'fact-not-its-own'],
    ["in another one's name", told({}, { source: 'three' }), 'fact-not-its-own'],
    ['in the name of whoever hears it', told({ source: 'two' }, { source: 'two' }), 'fact-not-its-own'],
  ])('%s', (_, text, code) => {
    const { join } = meet();
    const two = join('two');
    two.bus.arrive(text, 'one');
    expect(two.refused).toEqual([[code, 'one', 1]]);
    expect(two.view()).toEqual([]);
  });

  test('that an earlier process of the same master has told, and that comes again', async () => {
    const { join } = meet();
    const two = join('two');
    const one = join('one', 2);
    one.learn('a', 'now');
    await two.exchange.ask();
    one.exchange.beat();
    await Promise.resolve();
    two.bus.arrive(told({ key: 'gone' }), 'one');
    expect(two.refused).toEqual([['fact-stale', 'one', 1]]);
    expect(two.view()).toEqual(one.view());
  });

  test('but not because a third one says that its master has long begun anew', async () => {
    const { join } = meet();
    const [one, liar, two] = [join('one'), join('liar'), join('two')];
    one.bus.answer(() => []);
    liar.bus.answer(() => [
      JSON.stringify({ type: 'held', facts: [], have: [{ source: 'one', epoch: 2 ** 53 - 1, upTo: 7 }] }),
    ]);
    for (let times = 0; times < 20; times += 1) await two.exchange.ask();
    one.learn('a', 'is heard');
    one.exchange.tell();
    await expect.poll(two.view).toEqual(one.view());
    expect(new Set(two.refused.map(([code, from]) => `${code} ${from}`))).toEqual(
      new Set(['fact-of-far-epoch liar']),
    );
  });

  test('beyond what one source may have, by its own oldest', () => {
    const { join } = meet();
    const two = join('two');
    for (let index = 0; index < 1001; index += 1) {
      two.bus.arrive(told({ key: `a${index}`, sequence: index + 1 }), 'one');
    }
    expect(two.view()).toHaveLength(1000);
    expect(two.facts.store.newest(NOTE, 'a0')).toBeUndefined();
    expect(two.learn('mine', 'has room')).toBe(true);
  });

  test('when it is a part of an answer, too, and its other facts are taken', async () => {
    const { join } = meet();
    const [one, two] = [join('one'), join('two')];
    one.bus.answer(() => [
      'nonsense',
      JSON.stringify({ type: 'held', facts: [{ ...fact, kind: 'x y' }, fact] }),
    ]);
    await two.exchange.ask();
    expect(two.refused).toEqual([
      ['fact-malformed', 'one', 1],
      ['fact-malformed', 'one', 1],
    ]);
    expect(two.view()).toHaveLength(1);
  });
});

describe('of others a master says no more', () => {
  const LATEST = 2 ** 53 - 2;
  const fact = {
    kind: 'note',
    key: 'a',
    source: 'one',
    epoch: 1,
    sequence: 1,
    ageMs: 0,
    value: { text: 'lie' },
  };
  /** What a liar answers when it is asked. */
  const answers =
    (...parts: readonly object[]) =>
    () =>
      parts.map((part) => JSON.stringify({ type: 'held', facts: [], ...part }));

  test.each([
    ['a later epoch', { epoch: 2 }, { epoch: 2, upTo: 1 }],
    ['the last epoch of all', { epoch: LATEST }, { epoch: LATEST, upTo: 1 }],
    ['a later sequence', { sequence: LATEST }, { epoch: 1, upTo: LATEST }],
  ])('than they say themselves while they speak: %s', async (_, changes, mark) => {
    const { join } = meet();
    const [one, liar, two] = [join('one'), join('liar'), join('two')];
    one.bus.answer(() => []);
    one.learn('a', 'true');
    one.exchange.tell();
    await expect.poll(two.view).toEqual(one.view());
    liar.bus.answer(answers({ facts: [{ ...fact, ...changes }] }, { have: [{ source: 'one', ...mark }] }));
    for (let times = 0; times < 20; times += 1) await two.exchange.ask();
    expect(two.view()).toEqual(one.view());
    // What gets lost is missed as before.
    one.bus.isCut = true;
    one.learn('b', 'lost');
    one.exchange.tell();
    one.bus.isCut = false;
    const { bus, facts } = one;
    bus.answer(() => [
      JSON.stringify({
        type: 'held',
        facts: [...facts.store.facts()].map(({ timeMs: _time, ...told }) => ({ ...told, ageMs: 0 })),
        have: [],
      }),
    ]);
    liar.bus.answer(() => []);
    await expect
      .poll(
        () => {
          one.exchange.beat();
          return two.view();
        },
        { timeout: 10_000 },
      )
      .toEqual(one.view());
  });

  test('than could be, when they are silent, and what it says is counted', async () => {
    const { clock, join } = meet();
    const [liar, two] = [join('liar'), join('two')];
    liar.bus.answer(
      answers({ facts: [{ ...fact, epoch: LATEST }] }, { have: [{ source: 'one', epoch: LATEST, upTo: 1 }] }),
    );
    await two.exchange.ask();
    expect(two.view()).toEqual([]);
    expect(two.refused).toEqual([
      ['fact-of-far-epoch', 'liar', 1],
      ['fact-of-far-epoch', 'liar', 1],
    ]);
    const one = join('one', clock.nowMs);
    one.learn('a', 'true');
    one.exchange.tell();
    await expect.poll(two.view).toEqual(one.view());
  });

  test('than could be, to themselves: a name is never brought to its last epoch', async () => {
    const { clock, join } = meet();
    const [one, two] = [join('one'), join('two')];
    two.bus.answer(
      answers({ facts: [{ ...fact, epoch: LATEST }], have: [{ source: 'one', epoch: LATEST, upTo: 1 }] }),
    );
    await one.exchange.ask();
    const told = {
      type: 'learned',
      source: 'two',
      epoch: 1,
      sentMs: clock.nowMs,
      after: 0,
      upTo: 0,
      facts: [],
    };
    one.bus.arrive(JSON.stringify({ ...told, have: [{ source: 'one', epoch: LATEST, upTo: 1 }] }), 'two');
    expect(one.facts.epoch).toBe(1);
    expect(one.refused.map(([code]) => code)).toContain('fact-of-far-epoch');
  });

  test('after they fell silent than it has heard: what it tells of a new process counts then', async () => {
    const { clock, join } = meet();
    const [one, two, three] = [join('one'), join('two'), join('three')];
    one.exchange.beat();
    await Promise.resolve();
    // Two does not hear the next process, which three does.
    three.bus.arrive(
      JSON.stringify({
        type: 'learned',
        source: 'one',
        epoch: 2,
        sentMs: 0,
        after: 0,
        upTo: 1,
        facts: [{ ...fact, epoch: 2 }],
      }),
      'one',
    );
    one.bus.answer(() => []);
    for (let times = 0; times < 20; times += 1) await two.exchange.ask();
    expect(two.view()).toEqual([]);
    clock.nowMs += 3_000;
    for (let times = 0; times < 20; times += 1) await two.exchange.ask();
    expect(two.view()).toHaveLength(1);
  });

  test('than leaves room for all who speak themselves, however many it invents', async () => {
    const { clock, join } = meet();
    const [liar, two] = [join('liar'), join('two')];
    const ghosts = Array.from({ length: 1_000 }, (_, index) => ({
      source: `ghost${index}`,
      epoch: 1,
      upTo: 1,
    }));
    const facts = ghosts.map(({ source }) => ({ ...fact, source }));
    liar.bus.answer(answers({ facts }, { have: ghosts }));
    await two.exchange.ask();
    expect(two.view().length).toBeLessThanOrEqual(64);
    for (let index = 0; index < 400; index += 1) {
      const source = `real${index}`;
      two.bus.arrive(
        JSON.stringify({
          ...fact,
          type: 'learned',
          source,
          sentMs: clock.nowMs,
          after: 0,
          upTo: 1,
          facts: [{ ...fact, source }],
        }),
        source,
      );
    }
    expect(two.view().filter((line) => line.startsWith('real'))).toHaveLength(400);
  });
});
