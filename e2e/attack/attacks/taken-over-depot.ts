import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { directorySchema, isRelayTarget, isWayTarget } from '@longhaul/shared';
import { generateKeyPair, signRequest } from '@longhaul/shared/service';
import type { Attack } from '../attack.ts';
import { LIAR_ID, LyingDepot } from '../attacker/lying-depot.ts';

const PAUSE_MS = 100;

export const TAKEN_OVER_DEPOT: Attack = {
  name: 'taken-over-depot',
  does: 'somebody with the enrolment secret registers d1 at his own address, by its public key but without the private one',
  promise: 'a depot stays where its key is',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    const liar = new LyingDepot(ground);
    let asked = 0;
    await liar.join((socket, head) => {
      asked += 1;
      const [method, target = ''] = head.split(' ', 2);
      // Tests of its own links come to whoever has joined.
      if (method === 'CONNECT' || isRelayTarget(target) || isWayTarget(target))
        ground.tally.broke('no client of d1 comes to anybody else', head.slice(0, 200));
      socket.destroy();
    });
    const publicKey = await keyOf('d1');
    const stranger = generateKeyPair();
    const signs = [
      (signed: string) => Buffer.from(liar.key.sign(signed)).toString('base64url'),
      (signed: string) => Buffer.from(stranger.sign(signed)).toString('base64url'),
      () => 'A'.repeat(86),
      () => '',
    ];
    while (!ground.signal.aborted) {
      for (const sign of signs) {
        ground.tally.case();
        const status = await liar.register({ id: 'd1', publicKey }, sign);
        ground.tally.answer(`d1 elsewhere: ${status}`);
        if (status === 200)
          ground.tally.broke('a depot stays where its key is', 'd1 registered without its key');
        await delay(PAUSE_MS);
      }
    }
    ground.tally.answer(`asked as d1: ${asked}`);

    /** As every member of the overlay knows it, from the directory. */
    async function keyOf(id: string): Promise<string> {
      const path = `/v1/depots/${LIAR_ID}/heartbeat`;
      const body = JSON.stringify({ activeTransfers: 0, draining: false, links: [], sizes: [] });
      const request = { method: 'POST', path, stamp: liar.stamp(), body };
      const [sign] = [(signed: string) => Buffer.from(liar.key.sign(signed)).toString('base64url')];
      const answer = await ground.ask('master', 'POST', path, { body, headers: signRequest(request, sign) });
      const { depots } = directorySchema.parse(JSON.parse(await text(answer)));
      return depots.find((depot) => depot.id === id)?.publicKey ?? '';
    }
  },
};
