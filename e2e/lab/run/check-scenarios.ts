import { DEPOT_ID, isEnd, isLaneCount, MAX_CHAIN_DEPOTS, MAX_LANES } from '@longhaul/shared';
import {
  clientConnectionsOf,
  type Fault,
  masterSite,
  rivalOf,
  type Scenario,
  type Variant,
} from '../experiment.ts';
import { depotAt, FEWEST_AROUND_MIDDLE } from '../faults/depot-at.ts';
import { LARGEST_FILE_BYTES } from '../hosts/origin-content.ts';
import { checkTopology } from '../network/check-topology.ts';
import { endsOf } from '../network/routes.ts';
import type { Topology } from '../network/topology.ts';
import { LabRefusal } from '../refusal.ts';

/** The service beside the depots, whose folder and log its id would share. */
const MASTER_ID = 'master';
/** Connections at once: aria2 refuses more for one server, and curl takes more for 50. */
const MOST_CONNECTIONS: Partial<Record<Variant['kind'], number>> = { aria2: 16, ranges: 300 };

/**
 * Looks for what cannot work in scenarios, before anything is set up.
 * @throws {LabRefusal} `lab-topology-invalid` or `lab-input-invalid`, with every mistake of that kind.
 */
export function checkScenarios(scenarios: readonly Scenario[]): void {
  for (const { topology, crossTraffic } of scenarios) checkTopology(topology, crossTraffic);
  const mistakes = scenarios.flatMap((scenario) =>
    mistakesOf(scenario).map((mistake) => `scenario ${scenario.id}: ${mistake}`),
  );
  mistakes.push(...doubledOf(scenarios.map(({ id }) => id)).map((id) => `two scenarios are called ${id}`));
  if (mistakes.length > 0) throw new LabRefusal('lab-input-invalid', `${capitalised(mistakes.join('; '))}.`);
}

function mistakesOf(scenario: Scenario): string[] {
  const { topology, client, origin, depots, sizeBytes, variants } = scenario;
  const sites = Object.keys(topology.sites);
  const named = [...new Set([client, origin, ...depots, masterSite(scenario)])];
  const mistakes = named
    .filter((site) => !sites.includes(site))
    .map((site) => `there is no site '${site}', only ${sites.join(', ')}`);
  mistakes.push(
    ...depots
      .filter((depot) => !DEPOT_ID.test(depot))
      .map((depot) => `'${depot}' cannot be a depot's id: at most 10 of a-z, 0-9 and -`),
  );
  mistakes.push(
    ...depots
      .filter((depot) => isEnd(depot) || depot === MASTER_ID)
      .map((depot) => `no depot can be called '${depot}', which means something else: rename its site`),
    ...doubledOf(depots).map((depot) => `the depot '${depot}' is there twice: leave one out`),
    ...mistakesOfFlapping(scenario),
  );
  if (client === origin) mistakes.push('client and origin are the same site');
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 1 || sizeBytes > LARGEST_FILE_BYTES)
    mistakes.push(`sizeBytes is ${sizeBytes}: give 1 to ${LARGEST_FILE_BYTES}`);
  if (Object.keys(variants).length === 0) mistakes.push('it has no variant');
  for (const [id, variant] of Object.entries(variants)) {
    if (variant.kind === 'chain') {
      const strangers = variant.depots.filter((depot) => !depots.includes(depot));
      mistakes.push(
        ...strangers.map((depot) => `variant ${id} names '${depot}', which is none of its depots`),
      );
      if (variant.depots.length === 0) mistakes.push(`variant ${id} names no depot`);
      if (variant.depots.length > MAX_CHAIN_DEPOTS)
        mistakes.push(
          `variant ${id} names ${variant.depots.length} depots: give at most ${MAX_CHAIN_DEPOTS}`,
        );
      mistakes.push(
        ...doubledOf(variant.depots).map(
          (depot) => `variant ${id} names '${depot}' twice: a chain passes each once`,
        ),
      );
    }
    if (variant.kind === 'chain' || variant.kind === 'auto') {
      const { lanes = 1, fault } = variant;
      if (!isLaneCount(lanes))
        mistakes.push(`variant ${id} has ${lanes} lanes: give a whole number from 1 to ${MAX_LANES}`);
      if (fault)
        mistakes.push(
          ...mistakesOfFault(id, fault, variant.kind === 'chain' ? variant.depots : undefined, scenario),
        );
    }
    const connections = clientConnectionsOf(variant);
    const most = MOST_CONNECTIONS[variant.kind] ?? 1;
    if (!Number.isSafeInteger(connections) || connections < 1 || connections > most)
      mistakes.push(`variant ${id} has ${connections} connections: give a whole number from 1 to ${most}`);
    const needsDepots = variant.kind === 'chain' || variant.kind === 'auto' || rivalOf(variant) !== undefined;
    if (needsDepots && depots.length === 0) mistakes.push(`variant ${id} needs depots, and there are none`);
  }
  return mistakes;
}

/** `chain` is undefined where the planner chooses it. */
function mistakesOfFault(
  id: string,
  { atPercent, kind, position }: Fault,
  chain: readonly string[] | undefined,
  { depots, topology }: Scenario,
): string[] {
  const { length: count } = chain ?? depots;
  const mistakes: string[] = [];
  if (!(atPercent > 0 && atPercent < 100))
    mistakes.push(`variant ${id} breaks a depot at ${atPercent} %: give more than 0 and less than 100`);
  if (position === 'middle' && count < FEWEST_AROUND_MIDDLE)
    mistakes.push(
      `variant ${id} breaks the middle depot and has ${count}: give at least ${FEWEST_AROUND_MIDDLE}`,
    );
  if (kind === 'silence') {
    const silent = chain ? [depotAt(position, chain) ?? ''] : depots;
    mistakes.push(
      ...silent
        .filter((depot) => hasWire(topology, depot))
        .map(
          (depot) =>
            `variant ${id} silences '${depot}', which hangs on a wire, and only links can be cut: give it a link`,
        ),
    );
  }
  return mistakes;
}

function hasWire({ links }: Topology, site: string): boolean {
  return links.some((link) => 'wire' in link && endsOf(link).includes(site));
}

function mistakesOfFlapping({ flapping, topology }: Scenario): string[] {
  if (!flapping) return [];
  const { link, everyMs, downMs } = flapping;
  const mistakes: string[] = [];
  const isThere = topology.links.some(
    (one) => !('wire' in one) && one.between.toSorted().join() === link.toSorted().join(),
  );
  if (!isThere)
    mistakes.push(
      `the flapping link ${link.join('-')} is none of the topology's: only links, not wires, can be cut`,
    );
  if (!(downMs > 0 && downMs < everyMs && everyMs < Number.POSITIVE_INFINITY))
    mistakes.push(
      `a link flaps every ${everyMs} ms and is down for ${downMs} ms: give a downMs above 0 and below everyMs`,
    );
  return mistakes;
}

/** Each of those that stand twice, once. */
function doubledOf(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))];
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
