import { ERRORS, type ErrorCode } from '@longhaul/shared';
import { expect, it } from 'vitest';
import { plan } from '../testing/plan.ts';
import { serve } from '../testing/serve.ts';
import { testMaster } from './test-master.ts';

const patient = new AbortController().signal;
const allowed = async () => true;

/** A master that answers every request for a plan so. */
async function master(answer: (url: string) => object, status = 200): Promise<string> {
  let url = '';
  url = await serve((_incoming, outgoing) =>
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer(url))),
  );
  return url;
}

const refusal = (code: ErrorCode) => ({
  error: { code, message: ERRORS[code].message, retry: true },
});

it('tells whether a master plans for this user, and has depots for it', async () => {
  const link = (url: string) => ({ masterUrl: `${url}/get/https/www.example.com:443/` });
  const good = await master((url) => plan(link(url)));
  expect(await testMaster(good, patient, allowed)).toMatchObject({ result: 'serves', hasDepots: true });
  const without = await master((url) =>
    plan({ ...link(url), decision: 'direct', decisionReason: 'no-depot-up' }),
  );
  expect(await testMaster(without, patient, allowed)).toMatchObject({ result: 'serves', hasDepots: false });
});

it('tells a master that serves this user only from some origins from one that refuses him', async () => {
  const some = await master(() => refusal('origin-not-allowed'), 403);
  expect(await testMaster(some, patient, allowed)).toMatchObject({ result: 'some-origins' });
  const busy = await master(() => refusal('rate-limited'), 429);
  expect(await testMaster(busy, patient, allowed)).toEqual({
    result: 'refused',
    message: ERRORS['rate-limited'].message,
  });
});

it('names the address that a master goes by, since only its own links are followed', async () => {
  const elsewhere = await master(() => plan());
  expect(await testMaster(elsewhere, patient, allowed)).toEqual({
    result: 'elsewhere',
    address: 'https://master.example',
  });
});

it('tells what is no master from silence, and an address from none', async () => {
  expect(await testMaster(await master(() => ({})), patient, allowed)).toEqual({ result: 'no-master' });
  expect(await testMaster('http://127.0.0.1:1', patient, allowed)).toEqual({ result: 'unreachable' });
  expect(await testMaster('https://get.example/page', patient, allowed)).toEqual({ result: 'bad-address' });
});

it('tells silence from what the user does not let the add-on reach', async () => {
  const refused = async (urls: readonly string[]) => !urls.includes('http://127.0.0.1:1');
  expect(await testMaster('http://127.0.0.1:1', patient, refused)).toEqual({ result: 'no-access' });
});
