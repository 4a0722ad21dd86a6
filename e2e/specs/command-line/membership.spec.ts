import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import { type Overlay, startOverlay } from '../../overlay/overlay.ts';
import { onLoopback } from '../../overlay/placement.ts';
import { startService } from '../../overlay/service-process.ts';

const HOST = '127.0.0.1';
const depotProgram = join(import.meta.dirname, '..', '..', '..', 'depot-node', 'src', 'main.ts');

let dir: string;
let overlay: Overlay;
test.beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'longhaul-membership-'));
  overlay = await startOverlay({
    dir,
    placement: onLoopback(HOST),
    depots: [{ id: 'd1' }],
    links: [],
    origins: ['origin.example'],
    originNetwork: '127.0.0.0/8',
    originPorts: [1],
  });
});
test.afterEach(async () => {
  await overlay.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Runs the doctor for a depot like d1, with what is different. */
async function doctor(id: string, changed: Readonly<Record<string, string>> = {}) {
  const config = {
    id,
    listen: `{ host: ${HOST}, port: 0 }`,
    stateDir: id,
    master: `{ url: "${overlay.master.url}", enrolmentSecretFile: master/enrolment-secret }`,
    addresses: `{ overlayNetworks: [${HOST}/32] }`,
    ...changed,
  };
  const file = join(dir, 'examined.yaml');
  writeFileSync(
    file,
    Object.entries(config)
      .map(([key, value]) => `${key}: ${value}\n`)
      .join(''),
  );
  const { output } = await runProgram(process.execPath, [depotProgram, 'doctor', '--config', file], dir);
  return output.split('\n').filter((line) => /registration|registered address/.test(line));
}

/** What the master says of its depots. */
async function depotsOfMaster(): Promise<unknown> {
  return ((await (await fetch(`${overlay.master.url}/v1/status`)).json()) as { depots: unknown }).depots;
}

test('the doctor finds a depot that runs where it is registered, and one that does not run yet', async () => {
  const port = new URL(overlay.depot('d1').url).port;
  expect(await doctor('d1', { listen: `{ host: ${HOST}, port: ${port} }` })).toEqual([
    expect.stringMatching(/^ok .*the master would take it/),
    expect.stringMatching(new RegExp(`^ok .*finds this depot at http://${HOST}:${port}$`)),
  ]);
  expect(await doctor('d2')).toEqual([
    expect.stringMatching(/^ok .*the master would take it/),
    expect.stringMatching(/^ok .*finds this depot at/),
  ]);
  expect(await depotsOfMaster(), 'nothing was registered').toEqual([
    { id: 'd1', state: 'up', heardAgoMs: expect.any(Number) as unknown },
  ]);
});

test('the doctor says what is wrong: the secret, an id that is taken, an address that nobody can reach', async () => {
  writeFileSync(join(dir, 'wrong'), 'another secret');
  expect(
    await doctor('d2', { master: `{ url: "${overlay.master.url}", enrolmentSecretFile: wrong }` }),
  ).toEqual([expect.stringMatching(/^fail .*enrolment-refused: .*-> {2}copy enrolment-secret/)]);
  expect(await doctor('d1', { stateDir: 'copied' })).toEqual([
    expect.stringMatching(/^fail .*depot-key-mismatch: /),
  ]);
  expect(await doctor('d2', { public: `{ host: ${HOST}, port: 1 }` })).toEqual([
    expect.stringMatching(/^ok .*the master would take it/),
    expect.stringMatching(/^fail .*depot-unreachable: .*ECONNREFUSED.*-> {2}open the port/),
  ]);
});

test('a depot that was copied with its key is noticed: by both processes and by their master', async () => {
  cpSync(join(dir, 'd1'), join(dir, 'twin-state'), { recursive: true });
  const twin = await startService(
    'depot',
    dir,
    'twin',
    {
      id: 'd1',
      listen: { host: HOST, port: 0 },
      stateDir: join(dir, 'twin-state'),
      master: {
        url: overlay.master.url,
        enrolmentSecretFile: join(dir, 'master', 'enrolment-secret'),
        heartbeatSeconds: 1,
      },
      addresses: { overlayNetworks: [`${HOST}/32`] },
    },
    onLoopback(HOST).launchAt('twin'),
  );
  const health = async (url: string) => {
    const answer = await fetch(`${url}/healthz/ready`);
    return [answer.status, /depot-twice/.test(await answer.text())];
  };
  await expect.poll(() => health(overlay.depot('d1').url)).toEqual([503, true]);
  await expect.poll(() => health(twin.url)).toEqual([200, true]);
  expect(await depotsOfMaster()).toEqual([
    { id: 'd1', state: 'up', heardAgoMs: expect.any(Number) as unknown, problem: 'depot-twice' },
  ]);
  await twin.stop();
  await expect.poll(() => health(overlay.depot('d1').url), { timeout: 10_000 }).toEqual([200, false]);
});
