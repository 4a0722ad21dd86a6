import { HEADERS } from '@longhaul/shared';
import fc from 'fast-check';
import type { Attack } from '../attack.ts';
import { explore } from '../attacker/explore.ts';
import type { Ground } from '../attacker/ground.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const TARGETS = [
  'popular.files.example:80',
  'popular.files.example:443',
  'popular.files.example:22',
  'popular.files.example',
  'popular.files.example:080',
  'POPULAR.files.example:80',
  'popular.files.example.:80',
  '127.0.0.1:22',
  '127.0.0.1:8080',
  '[::1]:80',
  '169.254.169.254:80',
  'localhost:80',
  'other.files.example:80',
  'mail.ip.example:25',
  'http://popular.files.example:80/',
  '/',
  '*',
  ':80',
  'a@b:80',
  'x'.repeat(5000),
];
const SERVICES = ['d1', 'd2', 'd3', 'master'] as const;

const cases = fc.record({
  service: fc.constantFrom(...SERVICES),
  method: fc.constantFrom('CONNECT', 'CONNECT', 'CONNECT', 'connect', 'POST', 'TRACE'),
  target: fc.constantFrom(...TARGETS),
  /** By what the caller says that it may. */
  credential: fc.constantFrom('none', 'download', 'forged', 'basic', 'proof', 'proof-of-other', 'old-proof'),
  chain: fc.constantFrom('0', '1', '9', '-1', 'x'),
});
type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;

export const CONNECT_ABUSE: Attack = {
  name: 'connect-abuse',
  does: 'asks depots and the master for tunnels: without a ticket, by one for a download, forged, with proofs of other depots, to ports and hosts of every kind',
  promise: 'neither is an open proxy: no tunnel is opened, and the master serves on',
  worlds: ['splice', 'tls'],
  quick: ['splice'],
  meets: ['ticket-missing', 'ticket-wrong-kind', 'caller-not-proved'],
  strike: async (ground) => {
    const download = await ground.plan(`http://popular.files.example${ground.path(1000)}`, {
      via: ['d3', 'd2', 'd1'],
    });
    const tunnel = await ground.planTunnel('http://popular.files.example/', { via: ['d2', 'd1'] });
    if (!download || !tunnel?.ticket) throw new Error('the master gave no plan');
    const forged = tunnel.ticket.replace(/.{6}$/, 'AAAAAA');
    const proof = (depot: string, ageMs = 0) => `${depot} ${Date.now() - ageMs} ${'A'.repeat(86)}`;
    const credentialOf = ({ credential, chain }: Case): readonly string[] => {
      const withProof = (text: string) => [
        `${HEADERS.ticket}: ${download.ticket}`,
        `${HEADERS.chain}: ${chain}`,
        `${HEADERS.proof}: ${text}`,
      ];
      switch (credential) {
        case 'none':
          return [];
        case 'download':
          return [`Proxy-Authorization: Longhaul ${download.ticket}`];
        case 'forged':
          return [`Proxy-Authorization: Longhaul ${forged}`];
        case 'basic':
          return [`Proxy-Authorization: Basic ${Buffer.from(`x:${forged}`).toString('base64')}`];
        case 'proof':
          return withProof(proof('d1'));
        case 'proof-of-other':
          return withProof(proof('liar'));
        case 'old-proof':
          return withProof(proof('d2', 120_000));
      }
    };
    const text = (one: Case) =>
      [`${one.method} ${one.target} HTTP/1.1`, `Host: ${one.target}`, ...credentialOf(one), '', ''].join(
        '\r\n',
      );
    await explore(
      ground,
      cases,
      (one) => `${one.service}: ${JSON.stringify(text(one))}`,
      async (one) => {
        const socket = await ground.open(one.service);
        socket.end(text(one));
        const head = await readHead(socket);
        socket.destroy();
        const verdict = verdictOf(head);
        ground.tally.answer(verdict);
        if (verdict === 'served' || verdict === 'internal') return `a call without a right is ${verdict}`;
        return one.service === 'master' ? whyNotServing(ground) : undefined;
      },
    );
  },
};

/** Whoever asked for a tunnel must not have taken the master with him. */
async function whyNotServing(ground: Ground): Promise<string | undefined> {
  const status = await ground.send('master', 'GET', '/healthz').catch((failure: unknown) => String(failure));
  return status === 200 || ground.signal.aborted ? undefined : `the master then answers ${status}`;
}
