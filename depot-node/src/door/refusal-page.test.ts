import { HEADERS } from '@longhaul/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchRaw } from '../testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let overlay: TestOverlay;
beforeAll(async () => {
  overlay = await startTestOverlay(['d1'], (_, response) => response.writeHead(401).end());
});
afterAll(() => overlay.close());

const over = { issuedAt: 1_000_000, lastStart: 1_000_600, endOfLife: 1_086_400 };
const fileUrl = (name: string) => `${overlay.originUrl}/${name}`;
/** Addresses that the page leads to. */
const linksOf = (page: string) => [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);

test('whoever opens an address that is over is led back to the master, which plans anew', async () => {
  const { status, headers, body } = await fetchRaw(overlay.relayUrl(fileUrl('a%20b.iso'), over), {
    headers: BROWSER,
  });
  const page = body.toString();
  expect(status).toBe(403);
  expect(headers).toMatchObject({
    [HEADERS.error]: 'ticket-expired',
    'content-type': 'text/html; charset=utf-8',
  });
  expect(page).toContain('This link does not work');
  const { host } = new URL(overlay.originUrl);
  expect(linksOf(page)).toEqual([
    `${overlay.master.url}/`,
    `${overlay.master.url}/get/http/${host}/a%20b.iso`,
    `${overlay.master.url}/help#ticket-expired`,
  ]);
  expect(page).not.toContain('?');
});

test('where the origin may give the file itself, its address is text to copy', async () => {
  const { body } = await fetchRaw(overlay.relayUrl(fileUrl('login')), {
    headers: { ...BROWSER, Range: 'bytes=7-', 'If-Range': '"v1"' },
  });
  expect(body.toString()).toContain(`<code class="line">${fileUrl('login')}</code>`);
  expect(linksOf(body.toString())).toEqual([
    `${overlay.master.url}/`,
    `${overlay.master.url}/help#origin-needs-login`,
  ]);
});

test('whoever comes with a ticket that is used up is led to another one, and to the origin', async () => {
  const url = overlay.relayUrl(fileUrl('spent'), { budgetConnections: 0 });
  const { status, body } = await fetchRaw(url, { headers: BROWSER });
  expect(status).toBe(503);
  expect(body.toString()).toContain(`<code class="line">${fileUrl('spent')}</code>`);
  const { host } = new URL(overlay.originUrl);
  expect(linksOf(body.toString())).toContain(`${overlay.master.url}/get/http/${host}/spent`);
});

test('a ticket shows no address that it was not given for', async () => {
  const url = overlay.relayUrl(fileUrl('file')).replace('/file', '/evil%22%3E%3Cscript%3Ealert(1)');
  const { headers, body } = await fetchRaw(url, { headers: BROWSER });
  expect(headers[HEADERS.error]).toBe('ticket-wrong-url');
  expect(body.toString()).not.toContain('evil');
  expect(linksOf(body.toString())).toEqual([
    `${overlay.master.url}/`,
    `${overlay.master.url}/help#ticket-wrong-url`,
  ]);
});

test('the page runs nothing and loads nothing, and may lead to a download', async () => {
  const { headers, body } = await fetchRaw(overlay.relayUrl(fileUrl('file'), over), { headers: BROWSER });
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']*'; .*sandbox allow-downloads$/,
  );
  expect(body.toString()).not.toMatch(/<script|src=|@import|url\(/);
});

test('programs get one line of text', async () => {
  const { headers, body } = await fetchRaw(overlay.relayUrl(fileUrl('file'), over), {
    headers: { accept: '*/*' },
  });
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(body.toString()).toBe("ticket-expired: The ticket's life is over: use the master's link again.\n");
});
