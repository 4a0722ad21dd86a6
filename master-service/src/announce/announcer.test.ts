import { describe, expect, test } from 'vitest';
import { Announcer, type Answer, type Word } from './announcer.ts';

/** What is said while answers come every 100 ms, each with the time in milliseconds when it is said. */
function said(...answers: readonly (readonly [Answer, times: number])[]): string[] {
  const announcer = new Announcer();
  const words: string[] = [];
  let nowMs = 0;
  let last: Word | undefined;
  for (const [answer, times] of answers) {
    for (let time = 0; time < times; time += 1) {
      nowMs += 100;
      const word = announcer.take(answer, nowMs);
      if (word !== last && word !== undefined) words.push(`${word} ${nowMs}`);
      last = word ?? last;
    }
  }
  return words;
}

describe('an address', () => {
  test('is announced when its master has been well for a second', () => {
    expect(said(['well', 9])).toEqual([]);
    expect(said(['well', 10])).toEqual(['announce 1000']);
    expect(said(['well', 9], ['refused', 1], ['well', 9])).toEqual([]);
  });

  test('is withdrawn by the first word of its master, and at the second refusal', () => {
    expect(said(['well', 10], ['unwell', 1])).toEqual(['announce 1000', 'withdraw 1100']);
    expect(said(['well', 10], ['refused', 1], ['well', 50])).toEqual(['announce 1000']);
    expect(said(['well', 10], ['refused', 2])).toEqual(['announce 1000', 'withdraw 1200']);
  });

  test('is withdrawn at once when its master was silent for as long as it is waited for', () => {
    expect(said(['well', 10], ['silent', 1])).toEqual(['announce 1000', 'withdraw 1100']);
  });

  test('stays with the machine while its master drains, and leaves it two seconds after the master has gone', () => {
    expect(said(['well', 10], ['unwell', 150])).toEqual(['announce 1000', 'withdraw 1100']);
    expect(said(['well', 10], ['unwell', 1], ['refused', 30])).toEqual([
      'announce 1000',
      'withdraw 1100',
      'leave 3100',
    ]);
  });

  test('whose master never came up leaves the machine, too', () => {
    expect(said(['refused', 30])).toEqual(['withdraw 200', 'leave 2100']);
  });

  test('comes back a second after its master is back', () => {
    expect(said(['refused', 30], ['well', 10])).toEqual(['withdraw 200', 'leave 2100', 'announce 4000']);
  });
});
