import { DEPOT_ID } from '@longhaul/shared';
import { clientConnectionsOf, type Fault, masterSite, rivalOf, type Scenario } from '../experiment.ts';
import { LARGEST_FILE_BYTES } from '../hosts/origin-content.ts';
import { checkTopology } from '../network/check-topology.ts';
import { LabRefusal } from '../refusal.ts';

/**
 * Looks for what cannot work in scenarios, before anything is set up.
 * @throws {LabRefusal} `lab-topology-invalid` or `lab-input-invalid`, with every mistake of that kind.
 */
export function checkScenarios(scenarios: readonly Scenario[]): void {
  for (const { topology, crossTraffic } of scenarios) checkTopology(topology, crossTraffic);
  const mistakes = scenarios.flatMap((scenario) =>
    mistakesOf(scenario).map((mistake) => `scenario ${scenario.id}: ${mistake}`),
  );
  const ids = scenarios.map(({ id }) => id);
  const doubled = ids.filter((id, index) => ids.indexOf(id) < index);
  mistakes.push(...doubled.map((id) => `two scenarios are called ${id}`));
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
      const { lanes = 1 } = variant;
      if (!Number.isSafeInteger(lanes) || lanes < 1)
        mistakes.push(`variant ${id} has ${lanes} lanes: give a whole number of at least 1`);
    }
    if ('fault' in variant && variant.fault) {
      const count = variant.kind === 'chain' ? variant.depots.length : depots.length;
      mistakes.push(...mistakesOfFault(id, variant.fault, count));
    }
    const connections = clientConnectionsOf(variant);
    if (!Number.isSafeInteger(connections) || connections < 1)
      mistakes.push(`variant ${id} has ${connections} connections: give a whole number of at least 1`);
    const needsDepots = variant.kind === 'chain' || variant.kind === 'auto' || rivalOf(variant) !== undefined;
    if (needsDepots && depots.length === 0) mistakes.push(`variant ${id} needs depots, and there are none`);
  }
  return mistakes;
}

function mistakesOfFault(id: string, { atPercent, position }: Fault, depotCount: number): string[] {
  const mistakes: string[] = [];
  if (!(atPercent > 0 && atPercent < 100))
    mistakes.push(`variant ${id} breaks a depot at ${atPercent} %: give more than 0 and less than 100`);
  if (position === 'middle' && depotCount < 3)
    mistakes.push(`variant ${id} breaks the middle depot and has ${depotCount}: give at least 3`);
  return mistakes;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
