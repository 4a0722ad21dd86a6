import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startMaster } from '../testing/start-master.ts';
import { askOwnMaster } from './ask-own-master.ts';

test('a master that listens at all addresses is found on a machine that has only those of IPv4', async () => {
  const started = await startMaster();
  onTestFinished(() => started.master.close());
  const { port, signingKey, secret, clock } = started;
  // The command has no other clock than its machine's.
  clock.nowMs = Date.now();
  const keys = { signingKey, enrolmentSecret: secret };
  // The test's master is at 127.0.0.1 alone, so ::1 leads to nobody, as it does where IPv6 is off.
  const answer = await askOwnMaster({ listen: { host: '::', port } }, keys, { do: 'list-tokens' });
  expect(answer).toEqual({ tokens: [] });
});

test('a master that does not run is told with why each of its addresses could not be reached', async () => {
  const { signingKey, secret, master } = await startMaster();
  onTestFinished(() => master.close());
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const asked = askOwnMaster(
    { listen: { host: '::', port } },
    { signingKey, enrolmentSecret: secret },
    { do: 'list-tokens' },
  );
  await expect(asked).rejects.toMatchObject({
    code: 'master-unreachable',
    detail: expect.stringMatching(
      new RegExp(
        `must run on this machine: connect E[A-Z]+ ::1:.*; connect ECONNREFUSED 127\\.0\\.0\\.1:${port}`,
      ),
    ) as string,
  });
});
