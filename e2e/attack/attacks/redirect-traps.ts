import type { Attack } from '../attack.ts';
import { requestFor } from '../attacker/ground.ts';
import { startHostileOrigin } from '../attacker/hostile-origin.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const STATUSES = [301, 302, 303, 307, 308];

/** Where an origin may want a depot to go; `inner` and `d2` stand for addresses of this network. */
function locations(inner: string, d2: string): readonly string[] {
  const named = (address: string) => `${address.replaceAll('.', '-')}.ip.example`;
  const hosts = [
    '127.0.0.1',
    'localhost',
    '169.254.169.254',
    inner,
    d2,
    '0',
    '2130706433',
    '[::1]',
    named(inner),
    named('127.0.0.1'),
  ];
  return [
    ...hosts.flatMap((host) =>
      ['/', ':80/x', ':443/x', ':22/', ':6379/', ':8080/metrics'].map((rest) => `http://${host}${rest}`),
    ),
    ...hosts.map((host) => `//${host}/x`),
    `http://${d2}:8080/healthz`,
    'https://127.0.0.1/x',
    `http://user:pass@${inner}/`,
    `http://a.hostile.example@${inner}/`,
    `http://a.hostile.example:80@${inner}:80/`,
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ftp://a.hostile.example/x',
    'gopher://127.0.0.1:6379/_INFO',
    'http:127.0.0.1/x',
    'http:///127.0.0.1/x',
    `http://${inner}\\@a.hostile.example/`,
    '\\\\127.0.0.1\\x',
    '',
    '\0',
    '\xff\xfe',
    'http://a.hostile.example/\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
    '?loop',
    './loop',
    'http://xn--/x',
    'http://a.hostile.example:99999/x',
    `http://${'a.'.repeat(200)}hostile.example/x`,
  ];
}

export const REDIRECT_TRAPS: Attack = {
  name: 'redirect-traps',
  does: 'redirects depots to private hosts in many spellings, to other schemes and ports, to nothing, and in circles',
  promise: 'a redirect leads where a plan might lead, and nowhere else',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['redirect-bad-target', 'redirect-limit', 'target-not-public', 'address-not-allowed'],
  strike: async (ground) => {
    const traps = locations(ground.facts.inner, ground.facts.targets.d2.host);
    await startHostileOrigin(ground, ({ target, socket }) => {
      const turn = Number(/trap-([0-9]+)/.exec(target)?.[1]);
      const status = STATUSES[turn % STATUSES.length];
      const location = traps[turn % traps.length];
      socket.end(
        Buffer.from(`HTTP/1.1 ${status} Go\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`, 'latin1'),
      );
    });
    await keepAtIt(3, ground.signal, async (turn) => {
      const via = turn % 2 === 0 ? ['d1'] : ['d2', 'd1'];
      const download = await ground.plan(`http://a.hostile.example/${ground.facts.seed}/trap-${turn}`, {
        via,
      });
      if (!download) return;
      ground.tally.case();
      const socket = await ground.open('d1');
      socket.write(requestFor(download));
      const verdict = verdictOf(await readHead(socket));
      socket.destroy();
      ground.tally.answer(verdict);
      if (verdict === 'served' || verdict === 'internal')
        ground.tally.broke(`a trap is ${verdict}`, JSON.stringify(traps[turn % traps.length]));
    });
  },
};
