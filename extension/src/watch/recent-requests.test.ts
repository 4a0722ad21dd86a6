import { expect, it } from 'vitest';
import { memoryArea } from '../testing/memory-area.ts';
import { RecentRequests } from './recent-requests.ts';

const URL = 'https://origin.example/report';

it('knows a form for ten minutes, also after the background was put to sleep', async () => {
  const area = memoryArea();
  let now = 0;
  await new RecentRequests(area, () => now).note(URL, 'POST', '');
  const awake = new RecentRequests(area, () => now);
  expect(await awake.wasPosted(`${URL}#part`)).toBe(true);
  now = 600_000;
  expect(await awake.wasPosted(URL)).toBe(false);
});

it('forgets a form when the same address is asked plainly afterwards', async () => {
  const requests = new RecentRequests(memoryArea());
  await requests.note(URL, 'POST', '');
  await requests.note(URL, 'GET', '');
  expect(await requests.wasPosted(URL)).toBe(false);
});

it('knows the page behind the last requests, and keeps a bounded number', async () => {
  const requests = new RecentRequests(memoryArea());
  await requests.note(URL, 'GET', 'https://page.example/');
  expect(requests.pageOf(URL)).toBe('https://page.example/');
  for (let index = 0; index < 100; index += 1) await requests.note(`https://x.example/${index}`, 'POST', 'p');
  expect(requests.pageOf(URL)).toBe('');
});
