import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configOf, testFolder } from './service-config.ts';
import { startServiceBy } from './started-service.ts';

test('a master that gets SIGHUP takes a new coverage file, keeps the last good one, and logs line and reason', async ({
  onTestFinished,
}) => {
  const folder = testFolder(onTestFinished);
  const put = (text: string) => writeFileSync(join(folder, 'coverage.txt'), text);
  put('192.0.2.0/24 rj\n');
  const config = configOf('master', { prefixes: { coverageFile: 'coverage.txt' } }, folder);
  const started = await startServiceBy('node main.ts', 'master', config, { onTestFinished });
  const site = async () => {
    const answer = await fetch(`${started.url}/v1/prefixes?of=192.0.2.7`);
    return ((await answer.json()) as { place: { site?: { name: string } } }).place.site?.name;
  };
  expect(await site()).toBe('rj');
  put('192.0.2.0/24 pe\n192.0.2.0 rj\n');
  process.kill(started.pid, 'SIGHUP');
  await expect.poll(() => started.log()).toContain('prefixes not loaded');
  expect(started.log()).toContain("line 2: '192.0.2.0' is no prefix, for example 192.0.2.0/24");
  expect(started.log()).toContain('"code":"prefixes-invalid"');
  expect(await site()).toBe('rj');
  put('192.0.2.0/24 pe\n');
  process.kill(started.pid, 'SIGHUP');
  await expect.poll(site).toBe('pe');
});
