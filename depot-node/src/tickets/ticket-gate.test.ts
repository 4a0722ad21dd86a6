import { issueTicket } from '@longhaul/shared';
import { FailedChecks, generateKeyPair, type VerifySignature } from '@longhaul/shared/service';
import { describe, expect, test } from 'vitest';

import { TicketGate } from './ticket-gate.ts';

const master = generateKeyPair();
const now = 1_800_000_000;

function ticketOf(jobId: string, signer = master): string {
  return issueTicket(
    {
      jobId,
      kind: 'get',
      urlHash: 'A'.repeat(22),
      authorityHash: 'A'.repeat(22),
      chains: [['d1']],
      promises: [{ rateBps: 1e8, worstRttMs: 1, worstLossRate: 0 }],
      lanes: 1,
      budgetBytes: 1e9,
      budgetConnections: 10,
      issuedAt: now,
      lastStart: now + 600,
      endOfLife: now + 86_400,
    },
    'k1',
    signer.sign,
  );
}

/** A gate whose master has one key, and how often that was used. */
function gateWith(verify: VerifySignature = master.verify) {
  let checks = 0;
  const clock = { nowMs: now * 1000 };
  const counting = (own: VerifySignature): VerifySignature => {
    return (bytes, signature) => {
      checks += 1;
      return own(bytes, signature);
    };
  };
  let key: VerifySignature | undefined = counting(verify);
  const gate = new TicketGate({
    ownId: 'd1',
    ownGroup: undefined,
    masterKey: () => key,
    refetchKeys: async () => {},
    failedChecks: new FailedChecks({
      isOwn: (address) => address === '198.51.100.8',
      nowMs: () => clock.nowMs,
    }),
  });
  const renew = (next: VerifySignature | undefined) => {
    key = next && counting(next);
  };
  return { gate, renew, clock, checks: () => checks };
}

const jobOf = async (opened: ReturnType<TicketGate['open']>) => {
  const ticket = await opened;
  return ticket.ok ? ticket.value.claims.jobId : ticket.error.code;
};

test('a ticket that comes again, over whatever connection, is not verified again', async () => {
  const { gate, checks } = gateWith();
  const ticket = ticketOf('one');
  for (let time = 0; time < 5; time += 1) expect(await jobOf(gate.open(ticket))).toBe('one');
  expect(checks()).toBe(1);
});

test('a forged ticket is refused each time, also after the one that it imitates', async () => {
  const { gate } = gateWith();
  expect(await jobOf(gate.open(ticketOf('one')))).toBe('one');
  const forged = ticketOf('one', generateKeyPair());
  for (let time = 0; time < 2; time += 1)
    expect(await jobOf(gate.open(forged))).toBe('ticket-signature-wrong');
});

test('a ticket is worth nothing any more when its key is not the master’s any more', async () => {
  const { gate, renew } = gateWith();
  const ticket = ticketOf('one');
  expect(await jobOf(gate.open(ticket))).toBe('one');
  renew(generateKeyPair().verify);
  expect(await jobOf(gate.open(ticket))).toBe('ticket-signature-wrong');
  renew(undefined);
  expect(await jobOf(gate.open(ticket))).toBe('ticket-key-unknown');
});

test('more tickets than are remembered are all served', async () => {
  const { gate, checks } = gateWith();
  const tickets = Array.from({ length: 2050 }, (_, index) => ticketOf(`job${index}`));
  for (const [index, ticket] of tickets.entries()) expect(await jobOf(gate.open(ticket))).toBe(`job${index}`);
  expect(await jobOf(gate.open(tickets[0] ?? ''))).toBe('job0');
  expect(await jobOf(gate.open(tickets.at(-1) ?? ''))).toBe('job2049');
  expect(checks()).toBe(2051);
});

describe('of a client that brings forged tickets', () => {
  const forger = generateKeyPair();
  const forgeMany = async (gate: TicketGate, from: string, times: number) => {
    const codes = new Map<string, number>();
    for (let time = 0; time < times; time += 1) {
      const code = await jobOf(gate.open(ticketOf(`forged-${time}`, forger), from));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    return Object.fromEntries(codes);
  };

  test('no more signatures are checked than its budget, while its neighbours are served', async () => {
    const { gate, checks } = gateWith();
    const good = ticketOf('good');
    expect(await jobOf(gate.open(good, '198.51.100.7'))).toBe('good');
    expect(await forgeMany(gate, '198.51.100.7', 1_000)).toEqual({
      'ticket-signature-wrong': 300,
      'ticket-checks-spent': 700,
    });
    expect(checks()).toBe(301);
    // What was good stays good, also there.
    expect(await jobOf(gate.open(good, '198.51.100.7'))).toBe('good');
    expect(await jobOf(gate.open(ticketOf('other'), '198.51.100.7'))).toBe('ticket-checks-spent');
    expect(await jobOf(gate.open(ticketOf('neighbour'), '198.51.100.77'))).toBe('neighbour');
  });

  test('good ones are served again soon after the last forged one', async () => {
    const { gate, clock } = gateWith();
    await forgeMany(gate, '198.51.100.7', 400);
    clock.nowMs += 5_000;
    for (let time = 0; time < 50; time += 1)
      expect(await jobOf(gate.open(ticketOf(`good-${time}`), '198.51.100.7'))).toBe(`good-${time}`);
  });

  test('many together have a bound for their network, and leave others and depots among them theirs', async () => {
    const { gate, checks } = gateWith();
    for (let host = 100; host < 120; host += 1) await forgeMany(gate, `198.51.100.${host}`, 310);
    expect(checks()).toBe(2_400);
    expect(await jobOf(gate.open(ticketOf('other'), '198.51.100.7'))).toBe('ticket-checks-spent');
    expect(await jobOf(gate.open(ticketOf('depot'), '198.51.100.8'))).toBe('depot');
    expect(await jobOf(gate.open(ticketOf('elsewhere'), '203.0.113.7'))).toBe('elsewhere');
    expect(await jobOf(gate.open(ticketOf('masters')))).toBe('masters');
  });
});
