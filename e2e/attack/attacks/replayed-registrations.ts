import { setTimeout as delay } from 'node:timers/promises';
import { generateKeyPair } from '@longhaul/shared/service';
import type { Attack } from '../attack.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';

const PAUSE_MS = 50;
const MINUTE_MS = 60_000;

export const REPLAYED_REGISTRATIONS: Attack = {
  name: 'replayed-registrations',
  does: 'sends registrations, heartbeats and questions for tickets again: the same ones, with other bodies, times, keys, ids and paths',
  promise: 'the master takes a signed request once, from the key that the id belongs to',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['request-replayed', 'depot-signature-wrong', 'enrolment-refused', 'depot-key-mismatch'],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    await liar.join((socket) => socket.destroy());
    const other = generateKeyPair();
    const signAs = (text: string) => Buffer.from(other.sign(text)).toString('base64url');
    const beat = { activeTransfers: 0, draining: false, links: [], sizes: [] };
    const registration = { id: LIAR_ID, publicKey: liar.key.publicKey, ...liar.place };
    const path = `/v1/depots/${LIAR_ID}/heartbeat`;
    while (!ground.signal.aborted) {
      const stamp = liar.stamp();
      ground.tally.answer(`first: ${await liar.post(path, beat, { stamp })}`);
      const enrolled = liar.stamp();
      ground.tally.answer(
        `first: ${await liar.post('/v1/depots', registration, { stamp: enrolled, enrols: true })}`,
      );
      const attempts: Readonly<Record<string, () => Promise<number>>> = {
        'a heartbeat again': () => liar.post(path, beat, { stamp }),
        'a heartbeat that drains, by an old stamp': () =>
          liar.post(path, { ...beat, draining: true }, { stamp }),
        'a heartbeat by another key': () => liar.post(path, beat, { sign: signAs }),
        'a heartbeat of another depot': () =>
          liar.post('/v1/depots/d1/heartbeat', { ...beat, draining: true }),
        'a heartbeat from the past': () =>
          liar.post(path, beat, { stamp: { ...liar.stamp(), timeMs: Date.now() - 2 * MINUTE_MS } }),
        'a heartbeat from the future': () =>
          liar.post(path, beat, { stamp: { ...liar.stamp(), timeMs: Date.now() + 2 * MINUTE_MS } }),
        'a registration again': () =>
          liar.post('/v1/depots', registration, { stamp: enrolled, enrols: true }),
        'a registration without the secret': () => liar.post('/v1/depots', registration),
        'a registration by another key': () =>
          liar.post(
            '/v1/depots',
            { ...registration, publicKey: other.publicKey },
            { sign: signAs, enrols: true },
          ),
        'a registration of another depot': () =>
          liar.post('/v1/depots', { ...registration, id: 'd1' }, { enrols: true }),
      };
      for (const [what, attempt] of Object.entries(attempts)) {
        ground.tally.case();
        const status = await attempt();
        ground.tally.answer(`then: ${status}`);
        if (status < 400 || status >= 500)
          ground.tally.broke('a request is taken once, from its key', `${what}: ${status}`);
        await delay(PAUSE_MS);
      }
    }
  },
};
