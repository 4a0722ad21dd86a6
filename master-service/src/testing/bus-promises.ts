import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOST_TEXT_CHARS, type StateBus } from '../bus/state-bus.ts';

interface Heard {
  readonly text: string;
  readonly from: string;
}

interface Meeting {
  /** The bus of one master; all of one test meet. */
  readonly join: (name: string) => Promise<StateBus>;
  /** Resolves when the others are sure to reach what a master has subscribed to, or answers. */
  readonly settled: (bus: StateBus) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** What every bus promises to the masters on it. */
export function testBus(kind: string, open: () => Promise<Meeting>): void {
  describe(`a bus ${kind}`, () => {
    let meeting: Meeting;
    beforeEach(async () => {
      meeting = await open();
    });
    afterEach(() => meeting.close());

    /** A master that writes down what it is told. */
    async function join(name: string) {
      const bus = await meeting.join(name);
      const heard: Heard[] = [];
      bus.subscribe((text, from) => heard.push({ text, from }));
      await meeting.settled(bus);
      return { bus, heard };
    }

    async function ask(bus: StateBus, text: string) {
      const parts: Heard[] = [];
      const outcome = await bus.request(text, (part, from) => parts.push({ text: part, from }));
      return { outcome, parts };
    }

    test('brings what a master tells to all others, in order and by name, and not to itself', async () => {
      const [one, two, three] = [await join('one'), await join('two'), await join('three')];
      const texts = Array.from({ length: 100 }, (_, index) => `text ${index} äöü`);
      for (const text of texts) one.bus.publish(text);
      const expected = texts.map((text) => ({ text, from: 'one' }));
      await expect.poll(() => two.heard).toEqual(expected);
      await expect.poll(() => three.heard).toEqual(expected);
      expect(one.heard).toEqual([]);
    });

    test('carries the longest text there may be', async () => {
      const [one, two] = [await join('one'), await join('two')];
      const text = 'é'.repeat(MOST_TEXT_CHARS);
      one.bus.publish(text);
      await expect.poll(() => two.heard.length).toBe(1);
      expect(two.heard[0]?.text === text).toBe(true);
    });

    test('has a question answered by one of the others, part by part', async () => {
      const [one, two, three] = [await join('one'), await join('two'), await join('three')];
      for (const [name, { bus }] of Object.entries({ one, two, three })) {
        bus.answer((text, from) => [1, 2, 3].map((part) => `${name} ${part}: ${text} of ${from}`));
        await meeting.settled(bus);
      }
      const { outcome, parts } = await ask(one.bus, 'what?');
      expect(outcome.ok).toBe(true);
      const name = parts[0]?.from;
      expect(['two', 'three']).toContain(name);
      expect(parts).toEqual([1, 2, 3].map((part) => ({ text: `${name} ${part}: what? of one`, from: name })));
    });

    test('says so when nobody answers', async () => {
      const { bus } = await join('one');
      bus.answer(() => ['I do']);
      await meeting.settled(bus);
      expect((await ask(bus, 'anybody?')).outcome).toMatchObject({ error: { code: 'bus-no-answer' } });
    });

    test('is left by a master without harm to the others', async () => {
      const [one, two, three] = [await join('one'), await join('two'), await join('three')];
      await two.bus.close();
      one.bus.publish('to those who are here');
      two.bus.publish('from the dead');
      await expect.poll(() => three.heard).toEqual([{ text: 'to those who are here', from: 'one' }]);
      expect([one.heard, two.heard]).toEqual([[], []]);
    });

    test('tells whether it is connected', async () => {
      const { bus } = await join('one');
      expect(bus.status()).toMatchObject({ isConnected: true });
    });
  });
}
