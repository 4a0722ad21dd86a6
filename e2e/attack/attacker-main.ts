/**
 * One attack, as a process of its own at the lowest priority: `node attacker-main.ts <attack> <facts as
 * JSON>`. Strikes at the message `strike` until `stop`, then tells its parent what came of it and ends, with
 * all that it holds.
 */
import { setPriority } from 'node:os';
import { Ground, type GroundFacts } from './attacker/ground.ts';
import { ATTACKS } from './attacks.ts';

/** What the attacker's own work costs shall not be what the others feel. */
const LOWEST_PRIORITY = 19;
/** Whoever strikes ends by itself soon after the signal; what it waits for may never come. */
const LAST_WORDS_MS = 2000;

const [, , name, json = ''] = process.argv;
const attack = ATTACKS.find((known) => known.name === name);
if (!attack) throw new Error(`there is no attack ${name}`);
setPriority(LOWEST_PRIORITY);
const over = new AbortController();
const ground = new Ground(JSON.parse(json) as GroundFacts, over.signal);

process.on('message', (message) => {
  if (message === 'stop') over.abort();
  else void strike();
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: { url: 'tcp://attacker' } });

async function strike(): Promise<void> {
  let failure: string | undefined;
  const timeUp = new Promise<void>((resolve) => {
    over.signal.addEventListener('abort', () => setTimeout(resolve, LAST_WORDS_MS));
  });
  try {
    await Promise.race([attack?.strike(ground), timeUp]);
  } catch (thrown) {
    failure = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
  const { user, system } = process.cpuUsage();
  process.send?.({ report: { ...ground.tally.report(), cpuSeconds: (user + system) / 1e6, failure } }, () =>
    process.exit(0),
  );
}
