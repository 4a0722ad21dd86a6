import { Agent, request } from 'node:http';
import { generateKeyPair } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, TestDepot } from '../testing/test-depot.ts';

let master: TestMaster;
let depot: TestDepot;

beforeEach(async () => {
  master = await startMaster();
  [depot = new TestDepot('d1')] = await registerDepots(master, 'd1', 'd2');
});
afterEach(() => master.master.close());

const BURST = 300;

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Sends a request from an address of this machine; gives the code of its refusal, or the status. */
function send({ path, body, headers }: Sent, localAddress: string, agent?: Agent) {
  return new Promise<{ code: string; retryAfter: string | undefined }>((resolve, reject) => {
    const sending = request(
      `${master.url}${path}`,
      { method: 'POST', headers, localAddress, agent: agent ?? false },
      (answer) => {
        const { 'longhaul-error': code, 'retry-after': retryAfter } = answer.headers;
        answer.resume().once('end', () => resolve({ code: String(code ?? answer.statusCode), retryAfter }));
      },
    );
    sending.once('error', reject);
    sending.end(body);
  });
}

const SIGNED_BY_NOBODY = () => {
  const stranger = new TestDepot('d1', generateKeyPair());
  return stranger.signedHeartbeat(master);
};

const FORGED: readonly (readonly [what: string, make: () => Sent])[] = [
  ['heartbeats', SIGNED_BY_NOBODY],
  ['follow-ups', () => ({ ...SIGNED_BY_NOBODY(), path: '/v1/depots/d1/follow-ups' })],
  ['orders of an operator', () => ({ ...SIGNED_BY_NOBODY(), path: '/v1/enrolment' })],
];

async function codesOf(make: () => Sent, from: string, times: number): Promise<Record<string, number>> {
  const codes: Record<string, number> = {};
  for (let time = 0; time < times; time += 1) {
    const { code } = await send(make(), from);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  return codes;
}

describe('of who forges', () => {
  test.each(FORGED)('%s, no more signatures are checked than its budget', async (_, make) => {
    expect(await codesOf(make, '127.0.0.9', BURST + 20)).toEqual({
      'depot-signature-wrong': BURST,
      'master-busy': 20,
    });
    expect(await send(make(), '127.0.0.9')).toEqual({ code: 'master-busy', retryAfter: '5' });
    // Others of its network, and a depot at home in it.
    expect(await send(make(), '127.0.0.8')).toMatchObject({ code: 'depot-signature-wrong' });
    expect(await send(depot.signedHeartbeat(master), '127.0.0.1')).toMatchObject({ code: '200' });
    master.clock.advance(5);
    expect(await send(make(), '127.0.0.9')).toMatchObject({ code: 'depot-signature-wrong' });
  });

  test('tickets, no more are checked than its budget', async () => {
    const plan = await fetch(`${master.url}/v1/plans`, {
      method: 'POST',
      body: JSON.stringify({ url: 'http://origin.example/file.iso' }),
    });
    const { location } = (await plan.json()) as { location: string };
    const ticket = new URL(location).search.slice(1).split('&', 1)[0] ?? '';
    const asked = (text: string) => ({
      path: '/v1/legs',
      body: JSON.stringify({ ticket: text }),
      headers: {},
    });
    const forged = ticket.replace(/.{6}$/, 'AAAAAA');
    expect(await codesOf(() => asked(forged), '127.0.0.9', BURST + 20)).toEqual({
      'ticket-signature-wrong': BURST,
      'ticket-checks-spent': 20,
    });
    expect(await send(asked(ticket), '127.0.0.8')).toMatchObject({ code: '200' });
  });

  test('heartbeats beside a depot, behind the same address, this one is heard over its connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const beat = () => send(depot.signedHeartbeat(master), '127.0.0.9', agent);
    expect(await beat()).toMatchObject({ code: '200' });
    await codesOf(SIGNED_BY_NOBODY, '127.0.0.9', BURST);
    expect(await beat()).toMatchObject({ code: '200' });
    // Its connection is worth nothing more to who forges over it.
    expect(await send(SIGNED_BY_NOBODY(), '127.0.0.9', agent)).toMatchObject({
      code: 'depot-signature-wrong',
    });
    expect(await beat()).toMatchObject({ code: 'master-busy' });
  });
});

test('a depot is heard over a new connection, whatever strangers behind the same address forge', async () => {
  await codesOf(SIGNED_BY_NOBODY, '127.0.0.1', BURST);
  expect(await send(depot.signedHeartbeat(master), '127.0.0.1')).toMatchObject({ code: '200' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const over = async () => (await send(SIGNED_BY_NOBODY(), '127.0.0.1', agent)).code;
  expect([await over(), await over()]).toEqual(['depot-signature-wrong', 'master-busy']);
});

test('a heartbeat that was recorded is checked no more often than a forged one', async () => {
  const recorded = depot.signedHeartbeat(master);
  expect(await send(recorded, '127.0.0.1')).toMatchObject({ code: '200' });
  expect(await codesOf(() => recorded, '127.0.0.9', BURST + 20)).toEqual({
    'request-replayed': BURST,
    'master-busy': 20,
  });
});

test('who has the enrolment secret registers, whatever strangers behind the same address forge', async () => {
  await codesOf(SIGNED_BY_NOBODY, '127.0.0.1', BURST + 1);
  expect(await new TestDepot('d3').register(master)).toMatchObject({ status: 200 });
});
