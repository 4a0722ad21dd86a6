import { HEADERS } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { keepAtIt } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

/** Spellings of addresses that are nobody's business: of loopback, of networks inside, of clouds, of no host at all. */
const LITERALS = [
  '127.0.0.1',
  '127.1',
  '127.000.000.001',
  '0177.0.0.1',
  '0x7f000001',
  '0x7f.0.0.1',
  '2130706433',
  '0',
  '0.0.0.0',
  'localhost',
  'LOCALHOST.',
  'localhost..',
  'a.localhost',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '100.64.0.1',
  '169.254.169.254',
  '169.254.0.1',
  '168.63.129.16',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:db8::1]',
  '[2001::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[4000::1]',
  '１２７.０.０.１',
  '127。0。0。1',
];
const PORTS = ['', ':80', ':443', ':22', ':25', ':6379', ':8080'];
/** Addresses that names are given: the watch-dogs are there. */
const NAMED = ['127-0-0-1', '169-254-169-254', '0-0-0-0', '127-0-0-53', '224-0-0-1', '255-255-255-255'];

/** Asks the master for each of them: no plan, no ticket, no redirect. */
async function askForLiterals(ground: Ground): Promise<void> {
  for (const literal of LITERALS)
    for (const port of PORTS) {
      if (ground.signal.aborted) return;
      ground.tally.case();
      const answer = await ground.ask('master', 'GET', `/get/http/${encodeURI(literal)}${port}/asked-0.bin`);
      answer.resume();
      ground.tally.answer(String(answer.headers[HEADERS.error] ?? answer.statusCode));
      if (answer.headers.location !== undefined)
        ground.tally.broke('the master plans no way to a private address', `${literal}${port}`);
    }
}

/** Asks depots for names that have such addresses: only who connects can know. */
async function askForNames(ground: Ground, id: number): Promise<void> {
  const { inner, targets } = ground.facts;
  const forbidden = [
    ...NAMED,
    ...[inner, targets.d2.host, targets.master.host].map((host) => host.replaceAll('.', '-')),
  ];
  const address = forbidden[id % forbidden.length] ?? '';
  const via = id % 2 === 0 ? ['d1'] : ['d2', 'd1'];
  const download = await ground.plan(`http://${address}.ip.example/asked-${id}.bin`, { via });
  if (!download) return;
  ground.tally.case();
  const socket = await ground.open('d1');
  socket.write(requestFor(download));
  const verdict = verdictOf(await readHead(socket));
  socket.destroy();
  ground.tally.answer(verdict);
  if (verdict === 'served') ground.tally.broke('a depot connects to no private address', address);
}

export const PRIVATE_ADDRESSES: Attack = {
  name: 'private-addresses',
  does: `asks for ${LITERALS.length} spellings of private addresses on ${PORTS.length} ports, and for names that resolve to them`,
  promise: 'the master plans no way there, and no depot connects',
  worlds: ['splice'],
  quick: ['splice'],
  meets: ['address-not-allowed'],
  strike: async (ground) => {
    await Promise.all([
      askForLiterals(ground),
      keepAtIt(2, ground.signal, (turn) => askForNames(ground, turn)),
    ]);
  },
};
