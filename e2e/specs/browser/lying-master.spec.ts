import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlanAnswer } from '@longhaul/shared';
import { setMaster, whyLeft } from '../../fixtures/ask-addon.ts';
import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { type LyingMaster, relayAddress, startLyingMaster } from '../../fixtures/lying-master.ts';
import { expect, test } from '../../fixtures/test.ts';

let printer: Server;
let printed: string[];
let printerUrl: string;
let liar: LyingMaster | undefined;

test.beforeEach(async () => {
  printed = [];
  printer = createServer((request, response) => {
    printed.push(request.url ?? '');
    response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(printer, 'listening');
  printerUrl = `http://printer.test:${(printer.address() as AddressInfo).port}`;
});
test.afterEach(async ({ user, world }) => {
  await setMaster(user, world.overlay.master.url);
  liar?.close();
  printer.closeAllConnections();
  printer.close();
});

const COMMAND = '/apply.cgi?dns=203.0.113.1';
const LIES: readonly [string, string, (askedUrl: string) => Partial<PlanAnswer>][] = [
  ["somebody else's link", 'master-elsewhere', () => ({ masterUrl: printerUrl + COMMAND })],
  ['no depot', 'plan-unfit', () => ({ location: printerUrl + COMMAND })],
  [
    'a depot on a private network',
    'plan-unfit',
    (askedUrl) => ({ location: relayAddress(printerUrl, askedUrl) }),
  ],
];

for (const [what, why, lie] of LIES) {
  test(`a master that names ${what} makes the browser ask nobody there`, async ({ user, world }) => {
    liar = await startLyingMaster('liar.test', lie);
    await setMaster(user, liar.url);
    const name = `${what.replaceAll(/\W+/g, '-')}.bin`;
    await clickLink(user, world, `/personal/etag/${name}`);
    await expectFile(user, name);
    expect(liar.asked).toHaveLength(1);
    await expect.poll(() => whyLeft(user)).toBe(why);
    expect(printed).toEqual([]);
  });
}

test('a public name that leads to a private address here is told to no master', async ({ user, world }) => {
  liar = await startLyingMaster('liar.test', () => ({}));
  await setMaster(user, liar.url);
  const { port } = new URL(world.originUrl);
  await clickLink(user, world, `http://files.example:${port}/personal/etag/inside.bin`);
  await expectFile(user, 'inside.bin', 'anonymous-inside.bin');
  await expect.poll(() => whyLeft(user)).toBe('private-address');
  expect(liar.asked).toEqual([]);
});
