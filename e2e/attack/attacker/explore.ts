import fc from 'fast-check';
import type { Ground } from './ground.ts';

/** More cases than any strike has time for. */
const MOST_CASES = 1_000_000;
/** Time to find the smallest case that breaks a promise, after the strike. */
const SHRINK_MS = 1000;

/** What a case broke. */
class BrokenPromise extends Error {}

/**
 * Tries case after case until the strike is over, all from the ground's seed. `check` says which promise a
 * case breaks; the smallest such case goes into the tally, with what finds it again.
 */
export async function explore<Case>(
  ground: Ground,
  cases: fc.Arbitrary<Case>,
  describe: (one: Case) => string,
  check: (one: Case) => Promise<string | undefined>,
): Promise<void> {
  const { facts, signal, tally } = ground;
  const property = fc.asyncProperty(cases, async (one) => {
    if (!signal.aborted) tally.case();
    const broken = await check(one);
    if (broken !== undefined) throw new BrokenPromise(broken);
  });
  const found = await fc.check(property, {
    seed: facts.seed,
    ...(facts.path === undefined ? { numRuns: MOST_CASES } : { path: facts.path, numRuns: 1 }),
    interruptAfterTimeLimit: facts.seconds * 1000 + (facts.path === undefined ? 0 : SHRINK_MS),
  });
  if (!found.failed || !found.counterexample) return;
  if (!(found.errorInstance instanceof BrokenPromise)) throw found.errorInstance;
  const [smallest] = found.counterexample;
  tally.broke(
    found.errorInstance.message,
    `(--seed ${facts.runSeed} --path ${found.counterexamplePath}) ${describe(smallest)}`,
  );
}
