import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import type { StandingTunnel } from './leads.ts';
import { proxyScript } from './proxies.ts';

vi.mock('../browser/browser-api.ts', () => ({ api: {} }));

const standing = (server: string, host: string): StandingTunnel => ({
  server,
  tunnel: {
    jobId: 'job',
    chain: ['d1'],
    proxy: { host, port: 7000 },
    ticket: 'secret-ticket',
    startBeforeMs: 0,
    endsAtMs: 0,
  },
});

const SCRIPT = proxyScript([
  standing('https://members.example:443', 'd1.example'),
  standing('https://members.example:8443', 'd2.example'),
  standing('https://[2001:db8::1]:443', '2001:db8::2'),
]);
const FIND = runInNewContext(`${SCRIPT}; FindProxyForURL`) as (url: string, host: string) => string;

it.each([
  ['https://members.example/', 'HTTPS d1.example:7000; DIRECT'],
  ['https://members.example:8443/', 'HTTPS d2.example:7000; DIRECT'],
  ['https://[2001:db8::1]/', 'HTTPS [2001:db8::2]:7000; DIRECT'],
  ['https://members.example:444/', 'DIRECT'],
  ['https://a.members.example/', 'DIRECT'],
  ['https://members.example.evil.example/', 'DIRECT'],
  ['http://members.example/', 'DIRECT'],
  ['https://other.example/https://members.example/', 'DIRECT'],
  ['https://constructor/', 'DIRECT'],
])('Chromium reaches %s by %s', (url, way) => {
  expect(FIND(url, '')).toBe(way);
});

it('shows the script no ticket', () => {
  expect(SCRIPT).not.toContain('secret-ticket');
});
