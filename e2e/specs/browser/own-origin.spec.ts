import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setMaster } from '../../fixtures/ask-addon.ts';
import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { expect, test } from '../../fixtures/test.ts';

test('nobody who is asked for a plan is told which installation asks', async ({ user, world }) => {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') asked.push(request.headers);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await setMaster(user, url);
    await clickLink(user, world, '/personal/etag/by-whom.bin');
    await expectFile(user, 'by-whom.bin');
    await expect.poll(() => asked.length).toBe(1);
    // From the page of the options, too.
    await user.goto(user.addonPage('options.html'));
    await expect.poll(() => user.evaluate("return document.querySelector('#master').value")).toBe(url);
    await user.click('#test');
    await expect.poll(() => asked.length).toBe(2);
  } finally {
    await setMaster(user, world.overlay.master.url);
    server.closeAllConnections();
    server.close();
  }
  // Chromium's is the add-on's own, the same in each browser.
  for (const { origin } of asked)
    if (user.kind === 'firefox') expect(origin).toBeUndefined();
    else expect(origin).toMatch(/^chrome-extension:\/\/[a-p]{32}$/);
});
