import { text } from 'node:stream/consumers';
import { requireProgram } from '../../lab/programs.ts';
import { type Relay, SITE } from '../relays/relay.ts';
import { type Bench, type Load, orderFor } from './measure-run.ts';

/** Small enough to take no time, odd enough that no piece of it is a whole buffer. */
const VERIFIED: Load = { flows: 3, bodyBytes: 3_000_001 };

/**
 * Has the relay carry bodies whose every byte is compared, and looks at what its sockets send with. Rejects when a byte
 * or a congestion control is wrong, because then no figure would count; gives what is wrong with a depot's plane.
 */
export async function verifyRelay(
  bench: Bench,
  relay: Relay,
  congestionControl: string,
): Promise<string | undefined> {
  const order = orderFor(bench, relay, VERIFIED);
  await bench.traffic.order({ kind: 'take', order, verify: true }).catch((failure: Error) => {
    throw new Error(`${relay.id} does not carry bytes as it should: ${failure.message}`);
  });
  const firstBytes = relay.leastBytes ?? 1;
  await bench.traffic.order({ kind: 'hold', order: { ...order, flows: 1, firstBytes }, takeBytes: 1 });
  const found = await congestionControls(bench);
  await bench.traffic.order({ kind: 'release' });
  const others = [...found].filter((name) => name !== congestionControl);
  if (others.length > 0)
    throw new Error(
      `with ${relay.id}, sockets send by ${others.join(' and ')} instead of ${congestionControl}`,
    );
  return relay.planeObstacle?.();
}

async function congestionControls({ network }: Bench): Promise<ReadonlySet<string>> {
  const { stdout } = network.spawn(SITE, [requireProgram('ss'), '-tniH'], ['ignore', 'pipe', 'ignore']);
  return stdout ? parseCongestionControls(await text(stdout)) : new Set();
}

/** The congestion controls that `ss -ti` names: the word before the window scales or the first figure. */
export function parseCongestionControls(said: string): ReadonlySet<string> {
  return new Set([...said.matchAll(/\s([a-z]\w*) (?:wscale|rto):/g)].flatMap(([, name]) => name ?? []));
}
