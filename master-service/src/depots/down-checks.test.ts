import { request } from 'node:http';
import { LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, TEST_LINKS, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import type { ProvedPlace } from './address-proof.ts';

let master: TestMaster;
let depots: TestDepot[];
/** Depots that nobody answers for. */
let gone: Set<string>;
let asked: string[];

beforeEach(async () => {
  gone = new Set();
  asked = [];
  master = await startMaster({
    config: { links: TEST_LINKS },
    askDepot: async ({ id, host }) => {
      asked.push(id);
      return gone.has(id) ? refuse('depot-unreachable') : ok({ addresses: [host] });
    },
  });
  depots = await registerDepots(master, 'd1', 'd2', 'd3');
  asked = [];
});
afterEach(() => master.master.close());

async function stateOf(id: string, at = master): Promise<string | undefined> {
  const status = (await (await fetch(`${at.url}/v1/status`)).json()) as {
    depots: { id: string; state: string }[];
  };
  return status.depots.find((depot) => depot.id === id)?.state;
}

const entryOf = async () =>
  new URL((await rawGet(master.port, '/get/https/origin.example/f')).headers.location ?? '').port;

/** A master that waits for the answer of depots that are gone until it is given. */
async function startSlowMaster(answerOf: (host: string) => Result<ProvedPlace>) {
  let give: () => void = () => {};
  const slow = await startMaster({
    config: { links: TEST_LINKS },
    askDepot: ({ id, host }) => {
      if (!gone.has(id)) return Promise.resolve(ok({ addresses: [host] }));
      return new Promise((resolve) => {
        give = () => resolve(answerOf(host));
      });
    },
  });
  return { slow, answer: () => give() };
}

/** Sends a heartbeat over a connection that stays; gives what breaks it. */
function beatOverLine(depot: TestDepot): Promise<() => void> {
  const sent = depot.signedHeartbeat(master);
  return new Promise((resolve, reject) => {
    const outgoing = request(`${master.url}${sent.path}`, {
      method: 'POST',
      agent: false,
      headers: { ...sent.headers, connection: 'keep-alive' },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => {
      expect(answer.statusCode).toBe(200);
      const { socket } = answer;
      answer.resume().once('end', () => resolve(() => socket.destroy()));
    });
    outgoing.end(sent.body);
  });
}

describe('a depot whose connection to the master breaks', () => {
  test('is planned no more at once when nobody answers for it, and again when it is heard', async () => {
    expect(await entryOf()).toBe('7001');
    const breakLine = await beatOverLine(depots[0] as TestDepot);
    gone.add('d1');
    breakLine();
    await expect.poll(() => stateOf('d1')).toBe('lost');
    expect(await entryOf()).not.toBe('7001');
    expect(master.events).toContainEqual({ type: 'depot-down', depot: 'd1' });
    gone.clear();
    await depots[0]?.heartbeat(master);
    expect(await stateOf('d1')).toBe('up');
  });

  test('is asked, and stays when it answers', async () => {
    const breakLine = await beatOverLine(depots[0] as TestDepot);
    asked = [];
    breakLine();
    await expect.poll(() => asked).toEqual(['d1']);
    expect(await stateOf('d1')).toBe('up');
  });
});

describe('a neighbour’s word that a depot cannot be reached', () => {
  test('takes out a depot that does not answer the master, either', async () => {
    gone.add('d1');
    await depots[1]?.heartbeat(master, { unreached: ['d1'] });
    await expect.poll(() => stateOf('d1')).toBe('lost');
  });

  test('takes out no depot that answers, however often it is said', async () => {
    for (let lie = 0; lie < 20; lie += 1) await depots[1]?.heartbeat(master, { unreached: ['d1', 'd2'] });
    expect(await stateOf('d1')).toBe('up');
    expect(
      asked.filter((id) => id === 'd1'),
      'asked once in a while',
    ).toHaveLength(1);
    expect(asked, 'nobody speaks for himself').not.toContain('d2');
  });

  test('leads nothing over a depot that lives and that another one cannot connect to, until it can', async () => {
    const unreachedAmong = async () => {
      const { links } = (await (await fetch(`${master.url}/v1/links`)).json()) as {
        links: { from: string; to: string; isUnreached?: true }[];
      };
      return links.flatMap(({ from, to, isUnreached }) => (isUnreached ? [`${to} to ${from}`] : []));
    };
    const chainOf = async () => {
      const body = JSON.stringify({ url: 'https://origin.example/f', sizeBytes: 1e9 });
      const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
      return ((await answer.json()) as { chain: string[] }).chain;
    };
    const [one = '', other = ''] = await chainOf();
    expect(other).not.toBe('');
    const speaker = depots.find(({ id }) => id === one);
    for (let again = 0; again < 2; again += 1) {
      asked = [];
      await speaker?.heartbeat(master, { unreached: [other] });
      await expect.poll(() => asked).toContain(other);
    }
    await expect.poll(unreachedAmong).toEqual([`${one} to ${other}`]);
    expect(await stateOf(other)).toBe('up');
    expect((await chainOf()).join(' ')).not.toContain(`${one} ${other}`);
    expect(master.events.filter(({ type }) => type === 'depot-unreached')).toEqual([
      { type: 'depot-unreached', depot: one, other },
    ]);
    await speaker?.heartbeat(master, { reached: [other] });
    expect(await unreachedAmong()).toEqual([]);
    // A client keeps the chain that it had for a while.
    master.clock.advance(601);
    for (const depot of depots) await depot.heartbeat(master);
    expect(await chainOf()).toEqual([one, other]);
  });

  test('is taken back while the other one is still asked, or by a process of the depot that begins anew', async () => {
    const { slow, answer } = await startSlowMaster((host) => ok({ addresses: [host] }));
    const [d1, d2] = await registerDepots(slow, 'd1', 'd2');
    const isUnreached = async () =>
      (await (await fetch(`${slow.url}/v1/links`)).text()).includes('isUnreached');
    gone.add('d2');
    await d1?.heartbeat(slow, { unreached: ['d2'] });
    await d1?.heartbeat(slow, { reached: ['d2'] });
    answer();
    await d2?.heartbeat(slow);
    expect(await isUnreached()).toBe(false);
    gone.clear();
    await d1?.heartbeat(slow, { unreached: ['d2'] });
    await expect.poll(isUnreached).toBe(true);
    await d1?.nextProcess().register(slow);
    expect(await isUnreached()).toBe(false);
    await slow.master.close();
  });

  test('that nobody repeats counts for ten minutes', async () => {
    await depots[0]?.heartbeat(master, { unreached: ['d2'] });
    await expect
      .poll(() => master.events)
      .toContainEqual({ type: 'depot-unreached', depot: 'd1', other: 'd2' });
    master.clock.advance(599);
    for (const depot of depots) await depot.heartbeat(master);
    const legs = async () =>
      (await (await fetch(`${master.url}/v1/links?of=d1`)).text()).includes('isUnreached');
    expect(await legs()).toBe(true);
    master.clock.advance(2);
    expect(await legs()).toBe(false);
  });

  test.each([
    ['EMFILE', 'descriptors-out'],
    ['ENETUNREACH', 'no-way-out'],
  ])('takes out no depot that its master could not ask for want of its own (%s)', async (reason, code) => {
    const cause = Object.assign(new Error(reason), { code: reason });
    const { slow, answer } = await startSlowMaster(() => ({
      ok: false,
      error: new LonghaulError('depot-unreachable', { detail: 'there', cause }),
    }));
    const [, second] = await registerDepots(slow, 'd1', 'd2');
    gone.add('d1');
    await second?.heartbeat(slow, { unreached: ['d1'] });
    answer();
    await expect
      .poll(() => slow.events)
      .toContainEqual({ type: 'depot-not-asked', depot: 'd1', code, detail: 'there' });
    expect(await stateOf('d1', slow)).toBe('up');
    await slow.master.close();
  });

  test('says nothing of a depot that was heard after it was asked', async () => {
    const { slow, answer } = await startSlowMaster(() => refuse('depot-unreachable'));
    const [first, second] = await registerDepots(slow, 'd1', 'd2');
    gone.add('d1');
    await second?.heartbeat(slow, { unreached: ['d1'] });
    slow.clock.advance(1);
    await first?.heartbeat(slow);
    answer();
    await second?.heartbeat(slow);
    expect(await stateOf('d1', slow)).toBe('up');
    await slow.master.close();
  });
});
