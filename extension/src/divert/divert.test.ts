import { expect, it, vi } from 'vitest';
import { memoryArea } from '../testing/memory-area.ts';
import { settings } from '../testing/settings.ts';
import { Divert } from './divert.ts';
import { linkRules } from './link-rules.ts';
import { MasterHealth } from './master-health.ts';

function setUp(patch: Parameters<typeof settings>[0] = { noWastedByte: true }) {
  const world = {
    set: settings(patch),
    isUp: true,
    rules: 0,
    holds: false,
    looks: false,
    asked: [] as string[],
    nowMs: 0,
    /** Who answers where a depot is greeted. */
    reaches: undefined as string | undefined,
    greeted: [] as string[],
    whileGreeted: async () => {},
    area: memoryArea(),
  };
  const health = new MasterHealth({
    area: world.area,
    isHealthy: async (master) => {
      world.asked.push(master);
      return world.isUp;
    },
    whoIsAt: async (place) => {
      world.greeted.push(place);
      await world.whileGreeted();
      return world.reaches;
    },
    deadline: () => new AbortController().signal,
    now: () => world.nowMs,
  });
  const divert = new Divert({
    settings: async () => world.set,
    health,
    divertBy: async (isOn, set) => {
      world.holds = isOn;
      world.rules = isOn ? linkRules(set).length : 0;
    },
    keepLooking: (isOn) => {
      world.looks = isOn;
    },
  });
  return Object.assign(world, { divert, health });
}

it('diverts nothing, and asks nobody, unless the user has chosen it', async () => {
  for (const patch of [{}, { noWastedByte: true, enabled: false }, { noWastedByte: true, master: '' }]) {
    const world = setUp(patch);
    await world.divert.look();
    expect(world).toMatchObject({ rules: 0, holds: false, looks: false, asked: [] });
  }
});

it('diverts while the master is well, and stops at once when it is not, until it is again', async () => {
  const world = setUp();
  await world.divert.look();
  expect(world).toMatchObject({ holds: true, looks: true });
  expect(world.rules).toBeGreaterThan(0);
  await world.divert.masterIsDown();
  expect(world).toMatchObject({ rules: 0, holds: false, looks: true });
  world.isUp = false;
  await world.divert.look();
  expect(world).toMatchObject({ rules: 0, holds: false, looks: true });
  world.isUp = true;
  await world.divert.look();
  expect(world.holds).toBe(true);
});

it('diverts nothing while a depot is silent that the master leads to, until that answers here, for ten minutes', async () => {
  const silent = async () => {
    const world = setUp();
    await world.divert.look();
    await world.divert.depotIsSilent('https://depot.example:8443/secret/file.iso?ticket');
    expect(world).toMatchObject({ rules: 0, holds: false, looks: true });
    await world.divert.look();
    expect(world).toMatchObject({ holds: false, greeted: ['https://depot.example:8443'] });
    return world;
  };
  const reached = await silent();
  reached.reaches = 'd1';
  await reached.divert.look();
  await reached.divert.look();
  expect(reached).toMatchObject({ holds: true, greeted: Array(2).fill('https://depot.example:8443') });
  const late = await silent();
  late.nowMs = 600_000;
  await late.divert.look();
  expect(late.holds).toBe(true);
  const elsewhere = await silent();
  await elsewhere.divert.rest();
  expect(elsewhere).toMatchObject({ holds: true, greeted: ['https://depot.example:8443'] });
});

it('keeps in mind the depot that was found silent while another one was greeted, and answered', async () => {
  const world = setUp();
  await world.divert.look();
  await world.divert.depotIsSilent('https://depot.example:8443/file.iso');
  world.reaches = 'd1';
  world.whileGreeted = () => world.divert.depotIsSilent('https://other.example:8443/file.iso');
  await world.divert.look();
  expect(world.holds).toBe(false);
  world.whileGreeted = async () => {};
  await world.divert.look();
  expect(world).toMatchObject({
    holds: true,
    greeted: ['https://depot.example:8443', 'https://other.example:8443'],
  });
});

it("takes a network's own page for no greeting of a depot's", async () => {
  const world = setUp();
  world.reaches = '';
  await world.divert.depotIsSilent('https://depot.example:8443/file.iso');
  await world.divert.look();
  expect(world.holds).toBe(false);
});

it('holds twice as long what is silent again, up to four hours, until it has answered or the network is another', async () => {
  const world = setUp();
  const silentFor = async (place = 'https://depot.example:8443/file.iso') => {
    await world.divert.depotIsSilent(place);
    // Another request was under way.
    await world.divert.depotIsSilent(place);
    const sinceMs = world.nowMs;
    do {
      world.nowMs += 600_000;
      await world.divert.look();
    } while (!world.holds);
    return (world.nowMs - sinceMs) / 60_000;
  };
  const minutes: number[] = [];
  for (let time = 0; time < 7; time += 1) minutes.push(await silentFor());
  expect(minutes).toEqual([10, 20, 40, 80, 160, 240, 240]);
  expect(await silentFor('https://other.example:8443/file.iso'), 'another depot').toBe(10);
  expect(await silentFor('https://other.example:8443/file.iso')).toBe(20);
  await world.divert.rest();
  expect(await silentFor('https://other.example:8443/file.iso'), 'another network').toBe(10);
  await world.divert.depotIsSilent('https://other.example:8443/file.iso');
  world.reaches = 'd1';
  await world.divert.look();
  world.reaches = undefined;
  expect(await silentFor('https://other.example:8443/file.iso'), 'it had answered').toBe(10);
});

it('follows the settings, and the one that came last', async () => {
  const world = setUp();
  await world.divert.look();
  world.set = settings({ noWastedByte: true, kinds: { mode: 'only', kinds: ['iso'] } });
  const before = world.rules;
  await world.divert.look();
  expect(world.rules).toBeLessThan(before);
  world.set = settings();
  await Promise.all([world.divert.look(), world.divert.masterIsDown(), world.divert.look()]);
  expect(world).toMatchObject({ rules: 0, holds: false, looks: false });
});

it('remembers of which master it is known that it is well, for the next life of the background', async () => {
  const world = setUp();
  await world.divert.look();
  expect(await world.health.isWell('https://master.example')).toBe(true);
  expect(await world.health.isWell('https://other.example')).toBe(false);
});

it('follows a setting at once, while a master is asked that says nothing, and does not go back to the one before', async () => {
  const world = setUp();
  await world.divert.look();
  const all = world.rules;
  let answer: (isWell: boolean) => void = () => undefined;
  world.health.look = async (master) => {
    const isWell = await new Promise<boolean>((say) => {
      answer = say;
    });
    await world.health.note(master, isWell);
    return isWell;
  };
  const looking = world.divert.look();
  await vi.waitFor(() => expect(world.rules).toBe(all));
  world.set = settings({ noWastedByte: true, kinds: { mode: 'only', kinds: ['iso'] } });
  const following = world.divert.look();
  await vi.waitFor(() => expect(world.rules).toBeLessThan(all));
  const less = world.rules;
  world.set = settings();
  await world.divert.look();
  expect(world).toMatchObject({ rules: 0, holds: false });
  world.set = settings({ noWastedByte: true, kinds: { mode: 'only', kinds: ['iso'] } });
  answer(true);
  await Promise.race([looking, following]);
  expect(world.rules).toBe(less);
});
