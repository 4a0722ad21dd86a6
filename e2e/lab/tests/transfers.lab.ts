import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceProcess, startProgram } from '../../overlay/service-process.ts';
import { startHaproxyChain, startKeptHaproxyChain } from '../hosts/haproxy.ts';
import { inNetwork } from '../hosts/network-placement.ts';
import { startNginxChain } from '../hosts/nginx.ts';
import { originBytes } from '../hosts/origin-content.ts';
import type { RelayChain } from '../hosts/relay-chain.ts';
import type { Network } from '../network/network.ts';
import { startNetwork } from '../network/start-network.ts';
import type { Topology } from '../network/topology.ts';
import { hasProgram, type LabProgram } from '../programs.ts';
import { labObstacle } from '../requirements.ts';
import { aria2Transfer } from '../transfers/aria2-transfer.ts';
import { curlTransfer } from '../transfers/curl-transfer.ts';
import { rangesTransfer } from '../transfers/ranges-transfer.ts';
import type { Transfer, TransferOutcome } from '../transfers/transfer.ts';

const FILE_BYTES = 10_000_000;
const RELAY_SITES = ['near', 'middle', 'far'];
const PORT = 8090;
const ORIGIN_PROGRAM = join(import.meta.dirname, '..', 'hosts', 'origin-main.ts');

const link = (from: string, to: string, rttMs: number) => ({
  between: [from, to] as const,
  rttMs,
  rateBps: 100e6,
  queue: { bytes: 625_000 },
});
const TOPOLOGY: Topology = {
  name: 'three relays',
  sites: {
    client: { role: 'client' },
    near: { role: 'depot' },
    middle: { role: 'depot' },
    far: { role: 'depot' },
    origin: { role: 'origin' },
  },
  links: [
    link('client', 'near', 10),
    link('near', 'middle', 10),
    link('middle', 'far', 10),
    link('far', 'origin', 10),
  ],
};

const obstacle = labObstacle();
const skipped = obstacle ? ` (skipped: ${obstacle.message})` : '';

describe.skipIf(obstacle)(`transfers over four emulated links${skipped}`, () => {
  let network: Network;
  let origin: ServiceProcess;
  beforeAll(async () => {
    network = await startNetwork(TOPOLOGY, { seed: 1 });
    const folder = join(network.folder, 'origin');
    mkdirSync(folder, { recursive: true });
    const args = [ORIGIN_PROGRAM, '--host', network.addressOf('origin'), '--port', '80'] as const;
    origin = await startProgram(
      [...args],
      folder,
      'origin',
      inNetwork(network, () => 'origin').launchAt('origin'),
    );
  });
  afterAll(async () => {
    await origin?.stop();
    await network?.close();
  });

  const fetch = (transfer: Transfer, base: string): Promise<TransferOutcome> =>
    transfer({
      network,
      site: 'client',
      url: `${base}/${FILE_BYTES}/a.bin`,
      expected: originBytes(FILE_BYTES),
      cutSeconds: 12,
    });

  it('the path of 40 ms shows in the time to the first byte', async () => {
    const outcome = await fetch(curlTransfer, `http://${network.addressOf('origin')}`);
    expect(outcome).toMatchObject({ isRight: true, isCut: false, receivedBytes: FILE_BYTES });
    expect(outcome.setUpMs).toBeGreaterThanOrEqual(39);
    expect(outcome.ttfbMs).toBeGreaterThanOrEqual(79);
    // Not its exact value: a busy machine adds to it.
    expect(outcome.ttfbMs).toBeLessThan(1000);
  });

  const relays: [LabProgram, string, typeof startHaproxyChain][] = [
    ['haproxy', 'haproxy that passes bytes on', startHaproxyChain],
    ['haproxy', 'haproxy that keeps its connections', startKeptHaproxyChain],
    ['nginx', 'nginx', startNginxChain],
  ];
  for (const [program, name, start] of relays) {
    it.skipIf(!hasProgram(program))(
      `${name} at three sites gives the exact file (needs ${program})`,
      async () => {
        const chain: RelayChain = await start({
          network,
          sites: RELAY_SITES,
          port: PORT,
          originAddress: network.addressOf('origin'),
          originPort: 80,
        });
        const whole = { isRight: true, isCut: false, receivedBytes: FILE_BYTES };
        expect(await fetch(curlTransfer, chain.url)).toMatchObject(whole);
        expect(await fetch(rangesTransfer(8), chain.url)).toMatchObject(whole);
        if (hasProgram('aria2c')) expect(await fetch(aria2Transfer(16), chain.url)).toMatchObject(whole);
        await chain.stop();
        const after = await fetch(curlTransfer, chain.url);
        expect(after, 'nothing listens when it has been stopped').toMatchObject({
          isRight: false,
          receivedBytes: 0,
        });
      },
    );
  }
});
