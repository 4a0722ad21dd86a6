import type { Network } from '../../lab/network/network.ts';
import { LabRefusal } from '../../lab/refusal.ts';
import { findProgramFile } from '../../lab/requirements.ts';
import { haproxyDefault, haproxySplice } from './haproxy-relay.ts';
import { CAPPED_SOCKETS, type LonghaulId, startLonghaulRelays } from './longhaul-relays.ts';
import { nginxBest, nginxUnbuffered } from './nginx-relay.ts';
import { NODE_PIPE } from './node-pipe-relay.ts';
import { type ProxyProgram, startProxyRelay } from './proxy-relay.ts';
import type { Relay } from './relay.ts';
import { RELAY_IDS, type RelayId } from './relay-id.ts';
import { squid } from './squid-relay.ts';

/** Relays of other people, the program each is, and how it is set up. */
const PROXIES: Readonly<
  Partial<Record<RelayId, { readonly program: string; readonly of: (path: string) => ProxyProgram }>>
> = {
  'haproxy-splice': { program: 'haproxy', of: haproxySplice },
  'haproxy-default': { program: 'haproxy', of: haproxyDefault },
  'nginx-best': { program: 'nginx', of: nginxBest },
  'nginx-unbuffered': { program: 'nginx', of: nginxUnbuffered },
  squid: { program: 'squid', of: squid },
  'node-pipe': { program: 'node', of: () => NODE_PIPE },
};

/** What can be measured here, and a sentence for each that cannot. */
export interface RelayChoice {
  readonly ids: readonly RelayId[];
  readonly absent: readonly string[];
  /** Programs that take part. */
  readonly programs: readonly string[];
}

/**
 * Chooses the relays: those asked for, or all whose programs are installed.
 * @throws {LabRefusal} `lab-needs-program` when one was asked for by name and its program is missing.
 */
export function chooseRelays(
  asked: readonly RelayId[] | undefined,
  find: (program: string) => string | undefined = findProgramFile,
): RelayChoice {
  const programOf = (id: RelayId) => PROXIES[id]?.program ?? 'node';
  const isMissing = (id: RelayId) => programOf(id) !== 'node' && find(programOf(id)) === undefined;
  const missing = RELAY_IDS.filter((id) => (asked ?? RELAY_IDS).includes(id)).filter(isMissing);
  const [first] = missing;
  if (asked && first !== undefined)
    throw new LabRefusal(
      'lab-needs-program',
      `There is no program '${programOf(first)}' for ${missing.join(' and ')}: apt-get install ${programOf(first)}, or leave ${missing.length > 1 ? 'them' : 'it'} out of --relays.`,
    );
  const ids = RELAY_IDS.filter((id) => (asked ?? RELAY_IDS).includes(id) && !missing.includes(id));
  return {
    ids,
    absent: missing.map((id) => `\`${id}\`: ${programOf(id)} is not installed.`),
    programs: [...new Set(ids.map(programOf))].filter((program) => program !== 'node'),
  };
}

/** Source and master stand before the relays' ports; all below the range of ephemeral ports. */
export const SOURCE_PORT = 9000;
const MASTER_PORT = 9001;
const CAPPED_MASTER_PORT = 9002;
const CAPPED_PORT = 9003;
const FIRST_RELAY_PORT = 9010;

/** Starts them all and waits until they listen; `network.close` ends them. */
export async function startRelays(ids: readonly RelayId[], network: Network): Promise<Relay[]> {
  const portOf = (id: RelayId) => FIRST_RELAY_PORT + RELAY_IDS.indexOf(id);
  const place = { network, sourcePort: SOURCE_PORT };
  const ours = ids.filter(isLonghaul).map((id) => ({ id, port: portOf(id) }));
  const [depots, ...others] = await Promise.all([
    ours.length > 0
      ? startLonghaulRelays({ ...place, name: 'overlay', masterPort: MASTER_PORT, depots: ours })
      : [],
    ...ids.flatMap((id): Promise<Relay>[] => {
      if (id === 'direct')
        return [Promise.resolve({ id, pid: undefined, port: SOURCE_PORT, way: { kind: 'get' } })];
      const proxy = PROXIES[id];
      const path = proxy && (findProgramFile(proxy.program) ?? proxy.program);
      return proxy && path !== undefined
        ? [startProxyRelay(proxy.of(path), { ...place, port: portOf(id) })]
        : [];
    }),
  ]);
  return ids.flatMap((id) => [...depots, ...others].find((relay) => relay.id === id) ?? []);
}

/** Starts one more depot that splices, with caps on its sockets' buffers. */
export async function startCapped(network: Network): Promise<Relay | undefined> {
  const [depot] = await startLonghaulRelays({
    network,
    name: 'capped',
    sourcePort: SOURCE_PORT,
    masterPort: CAPPED_MASTER_PORT,
    depots: [{ id: 'longhaul-splice', port: CAPPED_PORT }],
    sockets: CAPPED_SOCKETS,
  });
  return depot;
}

function isLonghaul(id: RelayId): id is LonghaulId {
  return id === 'longhaul-splice' || id === 'longhaul-streams';
}
