import { spawnSync } from 'node:child_process';
import type { TestBrowser } from '../../browsers/browser.ts';
import { whyLeft } from '../../fixtures/ask-addon.ts';
import {
  beginThroughDepots,
  clickLink,
  expectFile,
  expectFirstThroughDepots,
  expectOnDisk,
} from '../../fixtures/download-checks.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';
import { findProgram } from '../../programs/find-program.ts';

test.use({ worldSpec: { group: true, secure: true } });
test.skip(process.getuid?.() !== 0, 'only root has a name server on port 53');

const SS = findProgram('ss') ?? '';
const ACTIVE = 'longhaul_depot_active';
const MEMBERS = ['d1', 'd2'] as const;
type Member = (typeof MEMBERS)[number];
/** More than the add-on wants to see before it ends the original. */
const BEGUN_BYTES = 2_500_000;

const other = (id: Member): Member => (id === 'd1' ? 'd2' : 'd1');

/** The depot of the group that sends bytes to the client now. */
async function servingDepot(world: World): Promise<Member> {
  const isActive = async (id: Member) => (await world.overlay.metric(id, ACTIVE).catch(() => 0)) > 0;
  let serving: Member | undefined;
  await expect
    .poll(async () => {
      const active = await Promise.all(MEMBERS.map(isActive));
      serving = MEMBERS.find((_, index) => active[index]);
      return serving;
    })
    .toBeDefined();
  return serving ?? 'd1';
}

async function begin(user: TestBrowser, world: World, name: string): Promise<number> {
  await beginThroughDepots(user, world, `/files/${name}`, BEGUN_BYTES);
  return requestsOf(world, name).length;
}

const requestsOf = (world: World, name: string) =>
  world.origin.requests.filter(({ url }) => url?.endsWith(`/${name}`));

/** The bytes that the origin was asked for from then on, in order. */
const starts = (world: World, name: string, before: number) =>
  requestsOf(world, name)
    .slice(before)
    .map(({ headers }) => Number(/^bytes=([0-9]+)-/.exec(headers.range ?? '')?.[1] ?? 0));

/**
 * Ends a depot as a crash does, or has the kernel abort its connections first; or has it end by itself what
 * runs, a second later.
 */
async function end(world: World, id: Member, how: 'fin' | 'rst' | 'drain'): Promise<void> {
  const depot = world.overlay.depot(id);
  if (how === 'drain') {
    process.kill(depot.pid, 'SIGINT');
    return;
  }
  if (how === 'rst') {
    process.kill(depot.pid, 'SIGSTOP');
    const { status } = spawnSync(SS, ['-K', '-t', 'src', world.addressOf(id)]);
    expect(status, 'the kernel must have INET_DIAG_DESTROY').toBe(0);
  }
  await depot.kill();
}

for (const how of ['fin', 'rst', 'drain'] as const) {
  test(`a download goes on at the group's other depot with the bytes it has, after ${how}`, async ({
    user,
    world,
  }) => {
    const name = `large-group-${how}.bin`;
    await expectFirstThroughDepots(user, world);
    const before = await begin(user, world, name);
    const first = await servingDepot(world);
    await end(world, first, how);
    const endedMs = performance.now();
    await expect.poll(() => starts(world, name, before).length, { intervals: [20] }).toBeGreaterThan(0);
    const pauseMs = Math.round(performance.now() - endedMs);
    await expectFile(user, name);
    test.info().annotations.push({ type: 'asked again after, ms', description: String(pauseMs) });
    for (const start of starts(world, name, before)) expect(start).toBeGreaterThan(BEGUN_BYTES / 2);
    expect(requestsOf(world, name).at(-1)?.headers.via).toContain(`longhaul-${other(first)}`);
    await world.overlay.depot(first).kill();
    await world.overlay.restartDepot(first);
  });
}

test('a download goes on ten times while the depots of its group end in turn', async ({ user, world }) => {
  test.setTimeout(180_000);
  const name = 'huge-group-ten.bin';
  const before = await begin(user, world, name);
  for (let time = 1; time <= 10; time += 1) {
    const serving = await servingDepot(world);
    const asked = requestsOf(world, name).length;
    await world.overlay.depot(serving).kill();
    await expect.poll(() => requestsOf(world, name).length, `break ${time}`).toBeGreaterThan(asked);
    await world.overlay.restartDepot(serving);
    await expectOnDisk(user, name, BEGUN_BYTES + time * 500_000);
  }
  await expectFile(user, name);
  for (const start of starts(world, name, before)) expect(start).toBeGreaterThan(BEGUN_BYTES / 2);
});

test('a depot that drains takes nothing new: what begins goes to the other one', async ({ user, world }) => {
  const name = 'large-group-draining.bin';
  const before = await begin(user, world, name);
  const first = await servingDepot(world);
  process.kill(world.overlay.depot(first).pid, 'SIGTERM');
  // Ten seconds for itself: one of four is rightly left alone when master and depot have taken more than the
  // half of it to answer.
  await clickLink(user, world, '/slow/none/large-beside-drain.bin');
  await expectFile(user, 'large-beside-drain.bin');
  const beside = requestsOf(world, 'large-beside-drain.bin').map(({ headers }) => headers);
  const asked = beside.map(({ via = 'direct', range = 'whole' }) => `${via}: ${range}`).join(', ');
  expect(beside.at(-1)?.via, asked).toContain(`longhaul-${other(first)}`);
  expect(await whyLeft(user), 'it was taken, not only asked for').toBeUndefined();
  await expectFile(user, name);
  expect(starts(world, name, before), 'it ended where it was').toEqual([]);
  await world.overlay.depot(first).kill();
  await world.overlay.restartDepot(first);
});
