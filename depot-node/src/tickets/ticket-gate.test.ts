import { issueTicket } from '@longhaul/shared';
import { generateKeyPair, type VerifySignature } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
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
  });
  const renew = (next: VerifySignature | undefined) => {
    key = next && counting(next);
  };
  return { gate, renew, checks: () => checks };
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
