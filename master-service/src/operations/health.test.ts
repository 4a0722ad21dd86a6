import { afterEach, describe, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, TestClock, type TestMaster } from '../testing/start-master.ts';
import { registerDepots } from '../testing/test-depot.ts';
import { Health } from './health.ts';

const open: TestMaster[] = [];
afterEach(async () => {
  for (const { master } of open.splice(0)) await master.close();
});

async function start(init: Parameters<typeof startMaster>[0] = {}): Promise<TestMaster> {
  const master = await startMaster(init);
  open.push(master);
  return master;
}

/** What a master says of itself, by the names of its health pages. */
async function healthOf({ port }: TestMaster): Promise<Readonly<Record<string, string>>> {
  const pages = ['live', 'ready', 'anycast'].map(async (page) => {
    const { status, body } = await rawGet(port, `/healthz/${page}`);
    return [page, `${status} ${body.trim()}`] as const;
  });
  return Object.fromEntries(await Promise.all(pages));
}

const WELL = { live: '200 ok', ready: '200 ready', anycast: '200 ready' };

/** A bus on which nobody answers, as when its server or all other sites are away. */
class SilentBus extends InProcessBus {
  override status() {
    return { kind: 'nats' as const, isAlone: false, isConnected: false };
  }
}

describe('the address of a master is announced', () => {
  test('from its start, where it is alone', async () => {
    const master = await start();
    expect(await healthOf(master)).toEqual(WELL);
    const { headers } = await rawGet(master.port, '/healthz/anycast');
    expect(headers['cache-control']).toBe('no-store');
  });

  test('once another master has told what it knows', async () => {
    const meeting: InProcessMeeting = new Set();
    const clock = new TestClock();
    await start({ bus: new InProcessBus('one', meeting), clock });
    const two = await start({ bus: new InProcessBus('two', meeting), clock });
    await expect.poll(() => healthOf(two)).toEqual(WELL);
  });

  test('after five seconds where no other one tells anything, and from then on whatever the bus does', async () => {
    const master = await start({ bus: new SilentBus('one') });
    expect(await healthOf(master)).toEqual({ ...WELL, ready: '503 starting', anycast: '503 starting' });
    master.clock.advance(5);
    expect(await healthOf(master)).toEqual(WELL);
    master.clock.advance(3600);
    expect(await healthOf(master)).toEqual(WELL);
  });

  test('also when all depots are lost', async () => {
    const master = await start();
    await registerDepots(master, 'd1');
    master.clock.advance(60);
    expect(await (await fetch(`${master.url}/v1/status`)).text()).toContain('lost');
    expect(await healthOf(master)).toEqual(WELL);
  });

  test('while its event loop stood still once, but not while it is late all the time', () => {
    const clock = new TestClock();
    const health = new Health({ hasCaughtUp: () => true, steadyMs: () => clock.nowMs });
    const look = (lateMs: number) => {
      clock.nowMs += 100 + lateMs;
      health.look();
      return health.anycast();
    };
    expect([look(20), look(3000), look(20)]).toEqual(['ready', 'ready', 'ready']);
    expect([look(600), look(600), look(600)]).toEqual(['ready', 'ready', 'behind']);
    expect(health.readiness()).toBe('ready');
    expect(look(20)).toBe('ready');
  });
});

describe('a master that is asked to end', () => {
  test('says so at once to those who announce its address, and serves on meanwhile', async () => {
    const master = await startMaster();
    await registerDepots(master, 'd1', 'd2');
    const ended = master.master.close(60_000);
    expect(await healthOf(master)).toEqual({ ...WELL, ready: '503 draining', anycast: '503 draining' });
    const answer = await rawGet(master.port, '/get/https/origin.example/file');
    expect(answer.status).toBe(307);
    // Whoever insists need not wait.
    await Promise.all([ended, master.master.close()]);
    await expect(rawGet(master.port, '/healthz/live')).rejects.toThrow('ECONNREFUSED');
  });

  test('takes its time only where somebody has asked whether its address may be announced', async () => {
    const master = await start({ config: { timeouts: { drainSeconds: 7 } } });
    expect(master.master.drainMs()).toBe(0);
    await rawGet(master.port, '/healthz/anycast');
    expect(master.master.drainMs()).toBe(7000);
    master.clock.advance(60);
    expect(master.master.drainMs()).toBe(0);
  });
});
