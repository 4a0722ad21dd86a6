import { parseRelayTarget } from '@longhaul/shared';
import { expect, it } from 'vitest';
import { location } from '../testing/plan.ts';
import { serve } from '../testing/serve.ts';
import { askLegs } from './ask-legs.ts';

const soon = () => AbortSignal.timeout(5_000);
const LEGS = [{ from: 'd1', to: 'client', connections: 1, goodputBps: 9e6 }];

it('asks by the ticket in the download’s address, and shows the master nothing else', async () => {
  let asked = '';
  const master = await serve((request, response) => {
    request.on('data', (chunk) => (asked += String(chunk)));
    request.on('end', () => response.end(JSON.stringify({ jobId: 'j', legs: LEGS })));
  });
  expect(await askLegs(master, location(), soon())).toEqual(LEGS);
  const relayed = parseRelayTarget(location().replace('https://depot.example', ''));
  expect(JSON.parse(asked)).toEqual({ ticket: relayed.ok && relayed.value.ticket });
});

it('reads the legs, whatever the master tells of what came of the download', async () => {
  const answer = { jobId: 'j', legs: LEGS, outcome: { of: 'a newer master' } };
  const master = await serve((_request, response) => response.end(JSON.stringify(answer)));
  expect(await askLegs(master, location(), soon())).toEqual(LEGS);
});

it('knows nothing where there is no ticket, and of a master that refuses or tells nonsense', async () => {
  expect(await askLegs('http://127.0.0.1:1', 'https://origin.example/file.iso', soon())).toBeUndefined();
  expect(await askLegs('http://127.0.0.1:1', location(), soon())).toBeUndefined();
  let status = 403;
  let text = JSON.stringify({ jobId: 'j', legs: LEGS });
  const master = await serve((_request, response) => response.writeHead(status).end(text));
  expect(await askLegs(master, location(), soon())).toBeUndefined();
  status = 200;
  for (text of ['{', '{"legs":[{}]}']) expect(await askLegs(master, location(), soon())).toBeUndefined();
});
