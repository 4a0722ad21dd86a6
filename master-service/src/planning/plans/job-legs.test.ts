import { type NeighbourLeg, ok, refuse, type TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { JobLegs } from './job-legs.ts';

const leg = (peer: string, sentBps: number, receivedBps: number, rttMs = 10): NeighbourLeg => ({
  peer,
  connections: 1,
  rttMs,
  sentBps,
  receivedBps,
});

function setUp(
  told: Readonly<Record<string, readonly NeighbourLeg[] | undefined>>,
  chains = [
    ['d1', 'd2'],
    ['d3', 'd2'],
  ],
) {
  const world = { nowMs: 1_000_000, asked: [] as string[] };
  const legs = new JobLegs({
    tickets: {
      read: (ticket) =>
        ticket === 'mine'
          ? ok({ jobId: 'job-1', chains } as unknown as TicketClaims)
          : refuse('ticket-signature-wrong'),
    },
    ask: async (depot, jobId) => {
      world.asked.push(`${depot} ${jobId}`);
      return told[depot];
    },
    now: () => world.nowMs,
  });
  const answer = async () => {
    const result = await legs.of('mine');
    if (!result.ok) throw result.error;
    return result.value.legs.map(({ from, to, goodputBps, rttMs }) => `${from} ${to} ${goodputBps} ${rttMs}`);
  };
  return Object.assign(world, { legs, answer });
}

test('the legs stand from the client’s on, each as its sender tells of it', async () => {
  const { answer, asked } = setUp({
    d1: [leg('client', 90, 1, 5), leg('d2', 1, 88, 333)],
    d2: [leg('d1', 89, 1, 200), leg('origin', 1, 91, 20)],
    d3: [],
  });
  expect(await answer()).toEqual(['d1 client 90 5', 'd2 d1 89 200', 'origin d2 91 20']);
  expect(asked.toSorted()).toEqual(['d1 job-1', 'd2 job-1', 'd3 job-1']);
});

test('a leg of which only its receiver tells counts, too', async () => {
  const { answer } = setUp({ d1: [leg('client', 90, 1, 5), leg('d2', 1, 88, 333)] });
  expect(await answer()).toEqual(['d1 client 90 5', 'd2 d1 88 333']);
});

test('while nothing moves, the chain says who sends', async () => {
  const { answer } = setUp({ d1: [leg('d2', 0, 0)], d2: [leg('d1', 0, 0)] });
  expect(await answer()).toEqual(['d2 d1 0 10']);
});

test('however many look, depots are asked once a second for one job', async () => {
  const world = setUp({ d1: [leg('client', 90, 1)] }, [['d1']]);
  await Promise.all([world.answer(), world.answer(), world.answer()]);
  world.nowMs += 999;
  await world.answer();
  expect(world.asked).toHaveLength(1);
  world.nowMs += 1;
  await world.answer();
  expect(world.asked).toHaveLength(2);
});

test('who has no ticket of this master learns nothing, and no depot is asked', async () => {
  const { legs, asked } = setUp({});
  expect(await legs.of('another')).toMatchObject({ ok: false, error: { code: 'ticket-signature-wrong' } });
  expect(asked).toEqual([]);
});
