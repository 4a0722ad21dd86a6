import {
  decodeTicket,
  directorySchema,
  parseRelayTarget,
  planAnswerSchema,
  verifyTicket,
} from '@longhaul/shared';
import { type VerifySignature, verifierFor } from '@longhaul/shared/service';
import { describe, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from './bus/in-process-bus.ts';
import { startMaster, type TestMaster } from './testing/start-master.ts';
import { hasNatsServer } from './testing/start-nats-server.ts';
import { GoingClock, startSites } from './testing/start-sites.ts';
import { registerDepots, type TestDepot } from './testing/test-depot.ts';

/** Keys that are renewed within seconds, and known for so long before that every heartbeat brings them. */
const RENEWED = { keys: { renewSeconds: 1, aheadSeconds: 6 } };
/** How often depots tell that they are there, and get the keys. */
const BEAT_MS = 500;

type OnTestFinished = (end: () => Promise<void>) => void;

/** A depot with the keys that its master told last: it checks tickets as depots do. */
class KeyedDepot {
  readonly #depot: TestDepot;
  readonly #home: TestMaster;
  #keys = new Map<string, VerifySignature>();

  constructor(depot: TestDepot, home: TestMaster) {
    this.#depot = depot;
    this.#home = home;
  }

  async fetchKeys(): Promise<void> {
    const { masterKeys } = directorySchema.parse(JSON.parse((await this.#depot.heartbeat(this.#home)).text));
    this.#keys = new Map(
      masterKeys.flatMap(({ keyId, publicKey }) => {
        const verify = verifierFor(publicKey);
        return verify ? [[keyId, verify] as const] : [];
      }),
    );
  }

  takes(ticket: string): boolean {
    const decoded = decodeTicket(ticket);
    return decoded.ok && verifyTicket(decoded.value, this.#keys.get(decoded.value.keyId)).ok;
  }
}

async function ticketOf(master: TestMaster, file: string): Promise<string> {
  const body = JSON.stringify({ url: `https://origin.example/${file}`, sizeBytes: 1e9 });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body, headers });
  const { location } = planAnswerSchema.parse(await answer.json());
  const relay = parseRelayTarget(new URL(location).pathname + new URL(location).search);
  return relay.ok ? relay.value.ticket : '';
}

const keyIdOf = (ticket: string) => {
  const decoded = decodeTicket(ticket);
  return decoded.ok ? decoded.value.keyId : 'none';
};

async function isKnownAt(master: TestMaster, ticket: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${master.url}/v1/legs`, {
    method: 'POST',
    body: JSON.stringify({ ticket }),
    headers,
  });
  return answer.status === 200;
}

/** Gives the keys of tickets that were refused. */
async function renewUnderLoad(
  one: TestMaster,
  two: TestMaster,
  onTestFinished: OnTestFinished,
): Promise<string[]> {
  const [d1] = (await registerDepots(one, 'd1')) as [TestDepot];
  const [d2] = (await registerDepots(two, 'd2')) as [TestDepot];
  const depots = [new KeyedDepot(d1, one), new KeyedDepot(d2, two)];
  const fetchAll = () => Promise.all(depots.map((depot) => depot.fetchKeys()));
  const masters = [one, two];
  for (const master of masters) {
    const isTaken = async () => {
      await fetchAll();
      const ticket = await ticketOf(master, 'first');
      return depots.every((depot) => depot.takes(ticket));
    };
    await expect.poll(isTaken, { timeout: 30_000 }).toBe(true);
  }
  const over = new AbortController();
  const beat = async () => {
    while (!over.signal.aborted) {
      await fetchAll();
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
    }
  };
  const beating = beat();
  onTestFinished(async () => {
    over.abort();
    await beating;
  });
  const tickets: string[] = [];
  const keys = masters.map(() => new Set<string>());
  const refused: string[] = [];
  const deadline = Date.now() + 60_000;
  // Until each has renewed its key.
  for (let file = 0; keys.some(({ size }) => size < 2) && Date.now() < deadline; file += 1) {
    for (const [index, master] of masters.entries()) {
      const ticket = await ticketOf(master, `${file}.iso`);
      keys[index]?.add(keyIdOf(ticket));
      tickets.push(ticket);
      // What is shown at another time than it was given at is in use as long.
      const earlier = tickets[Math.floor(Math.random() * tickets.length)] ?? '';
      for (const shown of [ticket, earlier]) {
        for (const depot of depots) if (!depot.takes(shown)) refused.push(keyIdOf(shown));
      }
    }
  }
  for (const { size } of keys) expect(size).toBeGreaterThan(1);
  const [first = '', last = ''] = [tickets[0], tickets.at(-1)];
  for (const master of masters) {
    expect(await isKnownAt(master, first)).toBe(true);
    expect(await isKnownAt(master, last)).toBe(true);
  }
  return refused;
}

describe('masters that renew their keys while plans are asked for have no ticket refused, by any depot or master,', () => {
  test('within one process', async ({ onTestFinished }) => {
    const meeting: InProcessMeeting = new Set();
    const join = async (name: string) => {
      const master = await startMaster({
        bus: new InProcessBus(name, meeting),
        config: RENEWED,
        clock: new GoingClock(),
      });
      onTestFinished(() => master.master.close());
      return master;
    };
    expect(await renewUnderLoad(await join('one'), await join('two'), onTestFinished)).toEqual([]);
  }, 90_000);

  test.skipIf(!hasNatsServer)(
    'over NATS',
    async ({ onTestFinished }) => {
      const sites = await startSites(2);
      onTestFinished(() => sites.close());
      const [one, two] = [await sites.startMaster(0, RENEWED), await sites.startMaster(1, RENEWED)];
      expect(await renewUnderLoad(one, two, onTestFinished)).toEqual([]);
    },
    90_000,
  );
});
