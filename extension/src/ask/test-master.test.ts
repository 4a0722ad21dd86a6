import { expect, it } from 'vitest';
import { serve } from '../testing/serve.ts';
import { testMaster } from './test-master.ts';

const patient = new AbortController().signal;

it('tells whether a healthy master answers at this address', async () => {
  const master = await serve(({ url }, outgoing) => outgoing.writeHead(url === '/healthz' ? 200 : 404).end());
  expect(await testMaster(`${master}/`, patient)).toMatchObject({ result: 'ok' });
  const ill = await serve((_incoming, outgoing) => outgoing.writeHead(503).end());
  expect(await testMaster(ill, patient)).toEqual({ result: 'not-healthy', status: 503 });
  expect(await testMaster('http://127.0.0.1:1', patient)).toEqual({ result: 'unreachable' });
  expect(await testMaster('master', patient)).toEqual({ result: 'bad-address' });
});
