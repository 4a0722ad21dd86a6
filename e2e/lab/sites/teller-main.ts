/**
 * A master that hears every depot of an overlay once a second and tells the others: `node teller-main.ts
 * --site <name> --server <url> [--cert <file> --key <file> --ca <file>] --depots <n> --links <of each>`. It
 * says that it is ready when all was told once.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createKnowledge, FactExchange, NatsBus, readMasterConfig } from '@longhaul/master-service/parts';
import { generateKeyPair } from '@longhaul/shared/service';
import { seededRandom } from '../results/seeded-random.ts';

/** Reports are spread over each second in so many turns. */
const TURNS = 50;
/** How far a report is off the one before: what transfers see of a link from one second to the next. */
const JITTER = 0.1;

const { values } = parseArgs({
  options: {
    site: { type: 'string', default: 'teller' },
    server: { type: 'string', default: '' },
    cert: { type: 'string' },
    key: { type: 'string' },
    ca: { type: 'string' },
    depots: { type: 'string', default: '1000' },
    links: { type: 'string', default: '20' },
  },
});
const [depotCount, linkCount] = [Number(values.depots), Number(values.links)];
const { cert, key, ca } = values;
const tls =
  cert && key && ca
    ? {
        cert: readFileSync(cert, 'utf8'),
        key: readFileSync(key, 'utf8'),
        authorities: [readFileSync(ca, 'utf8')],
      }
    : undefined;
const random = seededRandom(1);
const bus = new NatsBus({
  site: values.site,
  access: { servers: [values.server], ...(tls ? { tls } : {}) },
  onConnected: () => {},
  onFailed: (code, detail) => process.stderr.write(`${code} ${detail}\n`),
});
const knowledge = createKnowledge({
  config: readMasterConfig({
    listen: { host: '127.0.0.1', port: 0 },
    stateDir: 'unused',
    origins: ['origin.example'],
  }),
  depotStore: { load: async () => [], save: async () => {} },
  enrolmentStore: undefined,
  emit: () => {},
  source: bus.name,
  epoch: Date.now(),
  startedAtMs: Date.now(),
});
const { facts, registry, links } = knowledge;
const exchange = new FactExchange({
  facts,
  bus,
  now: Date.now,
  steadyMs: () => performance.now(),
  onRefused: (code) => process.stderr.write(`${code}\n`),
});

const { publicKey } = generateKeyPair();
const depots = Array.from({ length: depotCount }, (_, index) => ({
  id: `depot-${index}`,
  links: Array.from({ length: linkCount }, (_link, step) => ({
    to: `depot-${(index + 1 + step * 7) % depotCount}`,
    rttMs: 5 + 150 * random(),
    goodputBps: 20e6 + 400e6 * random(),
  })),
}));
for (const [index, { id }] of depots.entries()) {
  // Not 198.51.100.0/24, where no depot may be.
  const place = { host: `198.51.${101 + (index >> 8)}.${index & 255}`, port: 7000, tls: true };
  const registered = await registry.register({ id, publicKey, ...place }, stampOf(0), Date.now());
  if (!registered.ok) throw registered.error;
}
let beats = 0;
bus.start();
await exchange.start();
for (let turn = 0; turn < TURNS; turn += 1) hearSome(turn);
process.send?.({ ready: { url: 'http://127.0.0.1' } });
let turns = TURNS;
const startedAtMs = performance.now();
setInterval(() => {
  // However late a turn is, each depot is heard once a second.
  const dueTurns = TURNS + Math.floor(((performance.now() - startedAtMs) * TURNS) / 1000);
  for (; turns < dueTurns; turns += 1) hearSome(turns % TURNS);
}, 1000 / TURNS);
process.once('SIGINT', () => process.exit());
process.once('SIGTERM', () => process.exit());

function hearSome(turn: number): void {
  if (turn === 0) beats += 1;
  const nowMs = Date.now();
  for (let index = turn; index < depots.length; index += TURNS) {
    const { id, links: measured } = depots[index] as (typeof depots)[number];
    registry.hear(id, { activeTransfers: 3, draining: false, links: [], sizes: [] }, stampOf(beats), nowMs);
    for (const { to, rttMs, goodputBps } of measured) {
      const [sentBytes, retransmittedBytes] = [1e6, 1e6 * 1e-4 * random()];
      const told = { to, rttMs: near(rttMs), goodputBps: near(goodputBps), sentBytes, retransmittedBytes };
      links.report(id, told, nowMs);
    }
  }
}

function near(value: number): number {
  return value * (1 + JITTER * (2 * random() - 1));
}

function stampOf(sequence: number) {
  return { timeMs: Date.now(), epoch: 'one-process', sequence };
}
