import type { TicketClaims } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import type { Arrival, ClientArrival } from './arrival.ts';
import { JobTable, type JobTableInit } from './job-table.ts';

const CLIENT: ClientArrival = {
  from: 'client',
  address: '192.0.2.1/32',
  network: '192.0.2.0/24',
  hasRange: false,
};
/** Of the same network. */
const NEIGHBOUR: ClientArrival = { ...CLIENT, address: '192.0.2.2/32' };
const ELSEWHERE: ClientArrival = { ...CLIENT, address: '198.51.100.1/32', network: '198.51.100.0/24' };
const RESUME: Arrival = { ...CLIENT, hasRange: true };
const DEPOT: Arrival = { from: 'depot', depot: 'd9', isExit: false };
const TO_EXIT: Arrival = { ...DEPOT, isExit: true };
/** On the way from another depot. */
const OTHER_TO_EXIT: Arrival = { ...TO_EXIT, depot: 'd8' };

function claims(jobId: string, change: Partial<TicketClaims> = {}): TicketClaims {
  return {
    jobId,
    kind: 'get',
    urlHash: '',
    authorityHash: '',
    chains: [['d1']],
    promises: [{ rateBps: 1, worstRttMs: 1, worstLossRate: 0 }],
    lanes: 1,
    budgetBytes: 100,
    budgetConnections: 10,
    issuedAt: 1000,
    lastStart: 1600,
    endOfLife: 90_000,
    ...change,
  };
}

function table(init: Partial<JobTableInit> = {}, bootedAt = 1000) {
  /** What goes on by itself, and by how much somebody has set the clock. */
  const clock = { now: bootedAt, setBy: 0 };
  const limits = {
    maxTransfers: 50,
    maxPerJob: 5,
    maxPerClient: 5,
    maxPerNetwork: 10,
    maxPerOrigin: 50,
    maxClientBps: undefined,
    maxOriginBps: undefined,
    maxJobs: 200,
    shutdown: new AbortController().signal,
  };
  return {
    jobs: new JobTable({
      ...limits,
      nowSeconds: () => clock.now + clock.setBy,
      steadySeconds: () => clock.now,
      ...init,
    }),
    clock,
  };
}

function codeOf(result: ReturnType<JobTable['admit']>): string {
  return result.ok ? 'admitted' : result.error.code;
}

function release(result: ReturnType<JobTable['admit']>): void {
  if (result.ok) result.value.release();
}

test.each([
  ['a full depot', { maxTransfers: 1 }, 'depot-full', 'b'],
  ['a client with its share', { maxPerClient: 1 }, 'client-busy', 'b'],
  ['a client network with its share', { maxPerNetwork: 1 }, 'client-busy', 'b'],
  ['an origin that is fetched from as often as it may be', { maxPerOrigin: 1 }, 'origin-crowded', 'b'],
  ['a download with all its connections', { maxPerJob: 1 }, 'job-busy', 'a'],
] as const)('%s is refused, and served again when one has ended', (_, limits, code, next) => {
  const { jobs } = table(limits);
  const first = jobs.admit(claims('a'), CLIENT);
  expect(jobs.fullFor(claims(next), CLIENT)).toBe(code);
  expect(codeOf(jobs.admit(claims(next), CLIENT))).toBe(code);
  release(first);
  expect(jobs.fullFor(claims(next), CLIENT)).toBeUndefined();
  expect(codeOf(jobs.admit(claims(next), CLIENT))).toBe('admitted');
  expect(jobs.active).toBe(1);
});

test('what one client has taken is nothing to its neighbour', () => {
  const { jobs } = table({ maxPerClient: 1 });
  jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims('b'), CLIENT))).toBe('client-busy');
  expect(codeOf(jobs.admit(claims('b'), NEIGHBOUR))).toBe('admitted');
});

test('the share of one client network is nothing to others, and nothing to depots', () => {
  const { jobs } = table({ maxPerNetwork: 1 });
  jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims('b'), NEIGHBOUR))).toBe('client-busy');
  expect(codeOf(jobs.admit(claims('b'), ELSEWHERE))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('c'), DEPOT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('d'), TO_EXIT))).toBe('admitted');
});

test('an origin counts where it is dialled, and where clients come in', () => {
  const { jobs } = table({ maxPerOrigin: 2 });
  for (const id of ['a', 'b']) expect(codeOf(jobs.admit(claims(id), DEPOT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('a'), TO_EXIT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('d'), CLIENT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('e'), TO_EXIT))).toBe('origin-crowded');
  expect(codeOf(jobs.admit(claims('e', { authorityHash: 'another' }), TO_EXIT))).toBe('admitted');
});

test('a depot that fills an origin leaves half of it to other depots and to clients', () => {
  const { jobs } = table({ maxPerOrigin: 10 });
  const opened = Array.from({ length: 10 }, (_, index) => codeOf(jobs.admit(claims(`a${index}`), TO_EXIT)));
  expect(opened.filter((code) => code === 'admitted')).toHaveLength(5);
  expect(opened.at(-1)).toBe('origin-crowded');
  expect(codeOf(jobs.admit(claims('b'), OTHER_TO_EXIT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('c'), CLIENT))).toBe('admitted');
});

test('a depot or a network that takes all it can leaves room to the others, and clients leave some to depots', () => {
  const { jobs } = table({ maxTransfers: 40, maxPerClient: 50, maxPerNetwork: 50, maxPerOrigin: 500 });
  const takeAll = (name: string, arrival: Arrival) => {
    for (let index = 0; ; index += 1)
      if (codeOf(jobs.admit(claims(`${name}${index}`), arrival)) !== 'admitted') return index;
  };
  expect(takeAll('a', CLIENT)).toBe(20);
  const others = [1, 2, 3, 4, 5, 6, 7, 8].map((net) =>
    takeAll(`b${net}-`, { ...ELSEWHERE, network: `203.0.${net}.0/24`, address: `203.0.${net}.1/32` }),
  );
  expect(others[0]).toBe(10);
  expect(others.at(-1), 'three quarters are taken').toBe(0);
  expect(jobs.active).toBe(30);
  expect(takeAll('d', DEPOT)).toBe(5);
  expect(takeAll('e', OTHER_TO_EXIT)).toBeGreaterThan(0);
});

test('connections that bring a block each never use up a ticket, however many; those that bring less do', () => {
  const { jobs } = table();
  const ask = (bytes: number) => {
    const admitted = jobs.admit(claims('a', { budgetBytes: 1e9, budgetConnections: 10 }), TO_EXIT);
    if (admitted.ok) admitted.value.note(bytes);
    release(admitted);
    return codeOf(admitted);
  };
  for (let blocks = 0; blocks < 100; blocks += 1) expect(ask(65_536)).toBe('admitted');
  for (let barren = 0; barren < 10; barren += 1) expect(ask(65_535)).toBe('admitted');
  expect(ask(65_536)).toBe('budget-used-up');
});

test('a full memory forgets the job that was used longest ago, and still lets it resume', () => {
  const { jobs, clock } = table({ maxJobs: 2 });
  const third: Arrival = { ...ELSEWHERE, network: '203.0.113.0/24' };
  for (const [id, arrival] of [
    ['a', CLIENT],
    ['b', ELSEWHERE],
    ['a', CLIENT],
    ['c', third],
  ] as const)
    release(jobs.admit(claims(id), arrival));
  clock.now = 5000;
  expect(codeOf(jobs.admit(claims('a'), CLIENT)), 'a was used after b').toBe('admitted');
  expect(codeOf(jobs.admit(claims('b'), ELSEWHERE))).toBe('ticket-start-over');
  expect(codeOf(jobs.admit(claims('b'), { ...ELSEWHERE, hasRange: true }))).toBe('admitted');
});

test('whoever brings many jobs makes room by his own, and not by those of others', () => {
  const { jobs, clock } = table({ maxJobs: 4 });
  release(jobs.admit(claims('mine'), CLIENT));
  for (let index = 0; index < 20; index += 1) release(jobs.admit(claims(`b${index}`), ELSEWHERE));
  clock.now = 5000;
  expect(codeOf(jobs.admit(claims('mine'), CLIENT))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('b19'), ELSEWHERE))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('b0'), ELSEWHERE))).toBe('ticket-start-over');
});

test('jobs that run are never forgotten', () => {
  const { jobs } = table({ maxJobs: 1 });
  jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims('b'), CLIENT))).toBe('depot-full');
});

test('only a depot that booted after the ticket was issued takes a resume of a job it does not know', () => {
  const up = table({}, 900);
  up.clock.now = 5000;
  expect(codeOf(up.jobs.admit(claims('a'), RESUME))).toBe('ticket-start-over');
  const restarted = table({}, 4000);
  restarted.clock.now = 5000;
  expect(codeOf(restarted.jobs.admit(claims('a'), RESUME))).toBe('admitted');
  expect(codeOf(restarted.jobs.admit(claims('b'), CLIENT))).toBe('ticket-start-over');
  expect(codeOf(restarted.jobs.admit(claims('c'), DEPOT))).toBe('admitted');
});

test.each([-3600, 3600])(
  'a clock that was wrong by %i s at the boot, and then set, changes nothing of that',
  (setBy) => {
    const { jobs, clock } = table({}, 4000 + setBy);
    clock.setBy = -setBy;
    clock.now += 1000;
    const issued = (issuedAt: number) => ({ issuedAt, lastStart: issuedAt + 600 });
    expect(codeOf(jobs.admit(claims('before', issued(3999)), RESUME))).toBe('admitted');
    expect(codeOf(jobs.admit(claims('after', issued(4000)), RESUME))).toBe('ticket-start-over');
  },
);

describe('a rate that is used up', () => {
  /** A megabit over the ten seconds that count. */
  const OVER = { maxClientBps: 1e6, bytes: 1_250_001 };
  const generous = { budgetBytes: 1e9 };

  function busy(limits: Partial<JobTableInit>, arrival: Arrival = CLIENT) {
    const { jobs, clock } = table(limits);
    const running = jobs.admit(claims('a', generous), arrival);
    if (!running.ok) throw running.error;
    const ask = (id: string, how: Arrival, change: Partial<TicketClaims> = {}) =>
      codeOf(jobs.admit(claims(id, { ...generous, ...change }), how));
    return { running: running.value, clock, ask };
  }

  test('makes new requests wait, until ten seconds have taken it away', () => {
    const { running, clock, ask } = busy({ maxClientBps: OVER.maxClientBps });
    running.note(OVER.bytes - 1);
    expect(ask('b', CLIENT)).toBe('admitted');
    running.note(1);
    expect(ask('c', CLIENT)).toBe('client-rate-limited');
    expect(ask('a', RESUME), 'one more connection of a download that runs').toBe('client-rate-limited');
    clock.now += 9;
    expect(ask('c', CLIENT)).toBe('client-rate-limited');
    clock.now += 1;
    expect(ask('c', CLIENT)).toBe('admitted');
  });

  test('lets the download that broke off be resumed', () => {
    const { running, ask } = busy({ maxClientBps: OVER.maxClientBps, maxOriginBps: 1e6 });
    running.note(OVER.bytes);
    running.release();
    expect(ask('a', CLIENT), 'from its start').toBe('client-rate-limited');
    expect(ask('a', RESUME)).toBe('admitted');
    expect(ask('a', RESUME), 'by a second connection').toBe('client-rate-limited');
  });

  test('of one origin is nothing to others', () => {
    const { running, ask } = busy({ maxOriginBps: 1e6 });
    running.note(OVER.bytes);
    expect(ask('b', CLIENT)).toBe('origin-rate-limited');
    expect(ask('b', CLIENT, { authorityHash: 'another' })).toBe('admitted');
    expect(ask('b', DEPOT), 'on to the next depot').toBe('admitted');
  });

  test('at the exit depot stops new jobs, and no chain that is repaired or gets one more lane', () => {
    const { running, ask } = busy({ maxOriginBps: 1e6, maxClientBps: 1e6 }, TO_EXIT);
    running.note(OVER.bytes);
    expect(ask('b', TO_EXIT)).toBe('origin-rate-limited');
    expect(ask('a', TO_EXIT)).toBe('admitted');
    expect(ask('c', CLIENT, { authorityHash: 'another' }), 'clients have sent nothing').toBe('admitted');
  });

  test('of one client is nothing to its neighbour', () => {
    const { running, ask } = busy({ maxClientBps: 1e6 });
    running.note(OVER.bytes);
    expect(ask('b', CLIENT)).toBe('client-rate-limited');
    expect(ask('b', NEIGHBOUR)).toBe('admitted');
  });

  test('counts against the budget as well', () => {
    const { running, ask } = busy({});
    running.note(1e9);
    expect(ask('a', RESUME)).toBe('budget-used-up');
  });
});

describe("a ticket's bytes", () => {
  test('are shared by all connections of its job, which end together when they are used up', () => {
    const { jobs } = table();
    const running = [CLIENT, NEIGHBOUR, ELSEWHERE].map((arrival) => jobs.admit(claims('a'), arrival));
    const [first, second, third] = running.map((admitted) => {
      if (!admitted.ok) throw admitted.error;
      return admitted.value;
    });
    first?.note(60);
    second?.note(39);
    expect(third?.stop.aborted).toBe(false);
    second?.note(1);
    for (const admitted of [first, second, third])
      expect(admitted?.stop.reason).toMatchObject({ code: 'budget-used-up' });
    expect(codeOf(jobs.admit(claims('a'), CLIENT))).toBe('budget-used-up');
    expect(codeOf(jobs.admit(claims('b'), CLIENT)), 'those of another job').toBe('admitted');
  });
});

test('a job that has used one ticket up goes on with another one that is good for more', () => {
  const { jobs } = table();
  const first = jobs.admit({ ...claims('a'), budgetBytes: 100_000 }, CLIENT);
  if (!first.ok) throw first.error;
  first.value.note(100_000);
  expect(first.value.stop.aborted).toBe(true);
  first.value.release();
  const second = jobs.admit({ ...claims('a'), budgetBytes: 1_000_000 }, CLIENT);
  expect(second.ok && second.value.stop.aborted).toBe(false);
});

test('a job goes on with another ticket while a client still takes what used up the first, which ends nothing any more', () => {
  const { jobs } = table();
  const admit = (budgetBytes: number) => {
    const admitted = jobs.admit(claims('a', { budgetBytes }), CLIENT);
    if (!admitted.ok) throw admitted.error;
    return admitted.value;
  };
  const first = admit(100);
  first.note(100);
  const second = admit(1000);
  first.note(1);
  expect([first.stop.aborted, second.stop.aborted]).toEqual([true, false]);
  second.note(899);
  expect(second.stop.reason).toMatchObject({ code: 'budget-used-up' });
});

test('a ticket that is used up ends no connection of another one of its job that came before that and is good for more', () => {
  const { jobs } = table();
  const [first, second] = [100, 1000].map((budgetBytes) => {
    const admitted = jobs.admit(claims('a', { budgetBytes }), CLIENT);
    if (!admitted.ok) throw admitted.error;
    return admitted.value;
  });
  first?.note(100);
  expect([first?.stop.aborted, second?.stop.aborted]).toEqual([true, false]);
});

test('the end of the depot ends what runs, and what is admitted after it', () => {
  const shutdown = new AbortController();
  const { jobs } = table({ shutdown: shutdown.signal });
  const stopOf = (id: string) => {
    const admitted = jobs.admit(claims(id), CLIENT);
    if (!admitted.ok) throw admitted.error;
    return admitted.value.stop;
  };
  const [first, second] = [stopOf('a'), stopOf('b')];
  expect([first.aborted, second.aborted]).toEqual([false, false]);
  shutdown.abort('over');
  expect([first.reason, second.reason, stopOf('c').reason]).toEqual(['over', 'over', 'over']);
});

describe('what runs', () => {
  const MANY = { budgetBytes: 1e12 };
  const admitted = (jobs: JobTable, arrival: Arrival = CLIENT) => {
    const admission = jobs.admit(claims('j1', MANY), arrival);
    if (!admission.ok) throw admission.error;
    return admission.value;
  };

  test('moves when it has just begun, and while it carries bytes', () => {
    const { jobs, clock } = table();
    expect(jobs.isMoving).toBe(false);
    const { note, release: end } = admitted(jobs);
    expect(jobs.isMoving).toBe(true);
    clock.now += 4;
    note(2_000_000);
    clock.now += 9;
    expect(jobs.isMoving).toBe(true);
    end();
    expect(jobs.isMoving).toBe(false);
  });

  test('moves no more when its client has stopped reading, or takes a trickle', () => {
    const { jobs, clock } = table();
    const { note } = admitted(jobs);
    note(1e9);
    clock.now += 10;
    expect(jobs.isMoving).toBe(false);
    for (let second = 0; second < 20; second += 1) {
      note(100_000);
      clock.now += 1;
      expect(jobs.isMoving).toBe(false);
    }
    clock.setBy = -3600;
    expect(jobs.isMoving).toBe(false);
  });

  test('does not move because its client begins again and again, but when another one begins', () => {
    const { jobs, clock } = table();
    admitted(jobs);
    const moved: boolean[] = [];
    for (let times = 0; times < 30; times += 1) {
      clock.now += 4;
      release(jobs.admit(claims(`again-${times}`, MANY), CLIENT));
      moved.push(jobs.isMoving);
    }
    // For five seconds at first, and once a minute.
    expect(moved.filter(Boolean)).toHaveLength(4);
    admitted(jobs, DEPOT);
    expect(jobs.isMoving).toBe(true);
  });
});
