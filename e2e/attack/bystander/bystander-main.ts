/**
 * Somebody who downloads again and again through the depots of the arena: `node bystander-main.ts <JSON>`, see
 * `BystanderOrder`. Tells its parent of every download when it begins and when it has ended.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { formatGetPath, type GetOptions, parseOriginUrl } from '@longhaul/shared';
import { originBytes } from '../../lab/hosts/origin-content.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';
import type { BystanderOrder } from './bystander.ts';
import { download } from './download.ts';

/** The ways in which everybody downloads, in turn: each needs other parts of the depots. */
const WAYS = {
  /** From a host that nobody has asked for before: its name has to be looked up. */
  chain: { options: { via: ['d2', 'd1'] }, isShared: false },
  /** From the host that attackers like, too. */
  popular: { options: { via: ['d3', 'd1'] }, isShared: true },
  lanes: { options: { via: ['d3', 'd1'], lanes: 4 }, isShared: true },
  stepwise: { options: { via: ['d2', 'd1'], signalling: 'stepwise' }, isShared: false },
} as const satisfies Record<string, { readonly options: GetOptions; readonly isShared: boolean }>;

const order = JSON.parse(process.argv[2] ?? '') as BystanderOrder;
const { sizeBytes, localAddress } = order;
const options = {
  sizeBytes,
  localAddress,
  sha256: sha256Hex(originBytes(sizeBytes)),
  ca: order.caFile === undefined ? undefined : readFileSync(order.caFile),
};
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
process.send?.({ ready: { url: 'tcp://bystander' } });

for (let id = 0; ; id += 1) {
  const [way, { options: asked, isShared }] = Object.entries(WAYS)[id % Object.keys(WAYS).length] ?? fail();
  const scheme = order.caFile === undefined || way === 'stepwise' ? 'http' : 'https';
  const host = isShared ? 'popular' : `${order.name}${id}`;
  const url = parseOriginUrl(`${scheme}://${host}.files.example/${sizeBytes}/${order.name}-${id}.bin`);
  if (!url.ok) throw url.error;
  const link = order.masterUrl + formatGetPath(url.value, { ...asked, sizeBytes });
  process.send?.({ begun: { id, way } });
  process.send?.({ ended: { id, way, ...(await download(link, options)) } });
  await delay(order.pauseMs);
}

function fail(): never {
  throw new Error('there is no way to download');
}
