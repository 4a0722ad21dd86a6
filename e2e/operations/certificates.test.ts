import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, type TestContext, test } from 'vitest';
import { createTestCa, type TestCa } from '../certificates/test-ca.ts';
import { runService, type Service } from './run-service.ts';
import { configOf, testFolder } from './service-config.ts';
import { startServiceBy } from './started-service.ts';

const DAY_MS = 86_400_000;
const OTHER_NAME = 'someone.example';

/** What says under which name each of them is dialled. */
const PUBLIC = {
  depot: { public: { host: 'd1.example' } },
  master: { publicUrl: 'https://d1.example' },
} as const;

let ca: TestCa;
beforeAll(async () => {
  ca = await createTestCa();
});

async function configure(
  service: Service,
  { onTestFinished }: TestContext,
  name: string,
  { from = ca, change = {} }: { from?: TestCa; change?: object } = {},
) {
  const folder = testFolder(onTestFinished);
  const { certPem, keyPem } = await from.issue([name]);
  writeFileSync(join(folder, 'cert.pem'), certPem);
  writeFileSync(join(folder, 'key.pem'), keyPem);
  const tls = { certFile: 'cert.pem', keyFile: 'key.pem' };
  return { folder, config: configOf(service, { tls, ...PUBLIC[service], ...change }, folder) };
}

describe.each(['depot', 'master'] as const)('a %s', (service) => {
  test.concurrent('does not start with a certificate for another name than its own', async (context) => {
    const { expect } = context;
    const { folder, config } = await configure(service, context, OTHER_NAME);
    const { code, output } = await runService(service, ['--config', config], folder);
    expect(code).toBe(1);
    expect(output).toContain('  - tls: the certificate in certFile is not for d1.example');
  });

  test.concurrent('starts with one that has expired, and logs that as an error', async (context) => {
    const { expect } = context;
    const expired = await createTestCa({ now: new Date(Date.now() - 30 * DAY_MS) });
    const { config } = await configure(service, context, 'd1.example', { from: expired });
    const started = await startServiceBy('node main.ts', service, config, context);
    await started.said('certificate has expired');
    expect(started.log()).toMatch(
      /"level":50,.*"code":"config-invalid".*"msg":"tls: the certificate has expired at 20/,
    );
  });
});

test('a depot does not start with a group whose name it has no certificate for', async (context) => {
  const { expect } = context;
  const entryGroup = { id: 'south', host: 'south.example' };
  const { folder, config } = await configure('depot', context, 'd1.example', { change: { entryGroup } });
  const { code, output } = await runService('depot', ['--config', config], folder);
  expect(code).toBe(1);
  expect(output).toContain('  - entryGroup.tls: the certificate in certFile is not for south.example');
});

test('a master whose publicUrl is not https may have a certificate for any name', async (context) => {
  const { expect } = context;
  const change = { publicUrl: 'http://get.example' };
  const { config } = await configure('master', context, OTHER_NAME, { change });
  const { url } = await startServiceBy('node main.ts', 'master', config, context);
  expect(url).toBe('http://get.example');
});
