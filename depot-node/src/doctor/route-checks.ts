import type { Finding } from './finding.ts';
import type { Machine } from './machine.ts';

const FAMILIES = ['IPv4', 'IPv6'] as const;

/** Whether the depot can reach origins of both families; nothing is sent to anybody. */
export async function checkWaysOut(machine: Machine): Promise<Finding> {
  const what = 'ways out';
  const has = await Promise.all(FAMILIES.map((family) => machine.hasWayOut(family)));
  const lacking = FAMILIES.filter((_, index) => !has[index]);
  if (lacking.length === 0) return { level: 'ok', what, found: 'IPv4 and IPv6' };
  const only = lacking.join(' and ');
  return {
    level: 'warn',
    what,
    found: `no route by ${only}: no chain ends here for origins that have nothing else`,
    change: `give this machine an address and a default route of ${only}`,
  };
}
