import { expect, it } from 'vitest';
import { location, plan } from '../testing/plan.ts';
import { settings } from '../testing/settings.ts';
import { whyUnfit } from './why-unfit.ts';

const URL = 'https://origin.example/file.iso';
const why = (patch: Parameters<typeof plan>[0], set = settings(), url = URL) =>
  whyUnfit(plan(patch), url, set);

it("follows the master's own link and the depot's address for this file", () => {
  expect(why({})).toBeUndefined();
  const masterUrl = 'https://master.example/get/~size=50000000/https/origin.example/file.iso';
  expect(why({ masterUrl })).toBeUndefined();
});

it('says that no chain is faster', () => {
  expect(why({ decision: 'direct', location: `${URL}#lh-direct` })).toBe('direct-is-best');
});

it.each([
  'http://192.168.1.1/apply.cgi?dns=203.0.113.1',
  'https://other.example/get/https/origin.example/file.iso',
  'https://master.example.evil.example/get/https/origin.example/file.iso',
  'https://master.example@evil.example/get/https/origin.example/file.iso',
  'https://master.example/getaway/https/origin.example/file.iso',
])('starts nothing at %s, which is no link of the master that was set', (masterUrl) => {
  expect(why({ masterUrl })).toBe('master-elsewhere');
});

it.each([
  'https://master.example/get/http/192.168.1.1/apply.cgi?dns=203.0.113.1',
  'https://master.example/get/https/origin.example/other.iso',
  'https://master.example/get/',
])("starts nothing at the master's link %s, which is for something else", (masterUrl) => {
  expect(why({ masterUrl })).toBe('plan-unfit');
});

it.each([
  'http://192.168.1.1/apply.cgi?dns=203.0.113.1',
  'https://evil.example/file.iso',
  location('https://192.168.1.1'),
  location('https://nas'),
  location('https://depot.test'),
  location('https://depot.example', 'https://origin.example/other.iso'),
])('asks nothing of %s, which is no depot for this file at a public address', (place) => {
  expect(why({ location: place })).toBe('plan-unfit');
  expect(why({ location: place, decision: 'direct' })).toBe('direct-is-best');
});

it('asks a depot at a private address that the user permits, or on the machine of his own master', () => {
  const place = location('https://10.0.0.7:8443');
  expect(why({ location: place }, settings({ privateHosts: ['10.0.0.7:8443'] }))).toBeUndefined();
  expect(why({ location: place }, settings({ privateHosts: ['10.0.0.7:80'] }))).toBe('plan-unfit');
  const masterUrl = 'https://10.0.0.7/get/https/origin.example/file.iso';
  const own = settings({ master: 'https://10.0.0.7' });
  expect(why({ location: place, masterUrl }, own)).toBeUndefined();
});

it('gives no encryption up', () => {
  const plain = location('http://depot.example');
  expect(why({ location: plain })).toBe('insecure-chain');
  const local = settings({ master: 'http://127.0.0.1:8471' });
  const masterUrl = 'http://127.0.0.1:8471/get/https/origin.example/file.iso';
  expect(why({ location: location('http://127.0.0.1:8472'), masterUrl }, local)).toBeUndefined();
  const http = 'http://origin.example/file.iso';
  expect(
    why(
      {
        location: location('http://depot.example', http),
        masterUrl: 'https://master.example/get/http/origin.example/file.iso',
      },
      settings(),
      http,
    ),
  ).toBeUndefined();
});
