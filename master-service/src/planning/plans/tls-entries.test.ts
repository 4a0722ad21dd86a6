import type { PlanAnswer } from '@longhaul/shared';
import { afterEach, describe, expect, test } from 'vitest';
import { rawGet } from '../../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../../testing/start-master.ts';
import { TestDepot } from '../../testing/test-depot.ts';

const LINK = '/get/https/origin.example/f';
const SOUTH = { id: 'south', host: 'south.example', depots: ['d1', 'd3'] };

let master: TestMaster;
afterEach(() => master.master.close());

/** Depots of these names are up; those of `tls` speak TLS. */
async function start(publicUrl: string, tls: readonly string[], config: object = {}): Promise<void> {
  const started = await startMaster({ config: { publicUrl, planner: { allowVia: true }, ...config } });
  // Its name is nowhere known.
  master = { ...started, url: `http://127.0.0.1:${started.port}` };
  for (const id of ['d1', 'd2', 'd3']) {
    const depot = new TestDepot(id);
    await depot.register(master, { tls: tls.includes(id) });
    await depot.heartbeat(master, SOUTH.depots.includes(id) ? { entryGroup: 'south' } : {});
  }
}

async function ask(body: object): Promise<{ status: number; plan: PlanAnswer; detail: string }> {
  const answer = await fetch(`${master.url}/v1/plans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://origin.example/f', ...body }),
  });
  const text = await answer.text();
  return { status: answer.status, plan: JSON.parse(text) as PlanAnswer, detail: text };
}

describe('a client who comes by https for what an https origin has', () => {
  test('is led to a depot that speaks TLS, however much faster another one is', async () => {
    await start('https://get.example:0', ['d3']);
    const { status, headers } = await rawGet(master.port, LINK);
    expect(status).toBe(307);
    expect(headers.location).toMatch(/^https:\/\/127\.0\.0\.1:7003\//);
    expect(headers.link).not.toContain('<http:');
  });

  test('passes depots without TLS behind the entry depot', async () => {
    await start('https://get.example:0', ['d1']);
    const { plan } = await ask({});
    expect(plan.chain).toEqual(['d1', 'd2']);
    expect(plan.reasons.join('\n')).toMatch(/Left out as entry depot: d3, which speaks no TLS/);
  });

  test('goes to the origin where no depot speaks TLS', async () => {
    await start('https://get.example:0', []);
    const { headers } = await rawGet(master.port, LINK);
    expect(headers.location).toMatch(/^https:\/\/origin\.example\/f/);
  });

  test('is led to no group whose name has no certificate', async () => {
    await start('https://get.example:0', ['d1', 'd2', 'd3'], { entryGroups: [{ ...SOUTH, tls: false }] });
    const { headers } = await rawGet(master.port, LINK);
    expect(headers.location).toMatch(/^https:\/\/127\.0\.0\.1:7001\//);
    expect(headers.link).not.toContain('<http:');
  });

  test('chooses no entry depot without TLS, either', async () => {
    await start('https://get.example:0', ['d1']);
    expect((await ask({ via: ['d2', 'd1'] })).status).toBe(200);
    const refused = await ask({ via: ['d2', 'd3'] });
    expect(refused.status).toBe(400);
    expect(refused.detail).toContain('d3 speaks no TLS');
  });

  test('has no tunnel by a depot without TLS, for whatever origin', async () => {
    await start('https://get.example:0', ['d3']);
    for (const url of ['http://origin.example/', 'https://origin.example/']) {
      const { plan } = await ask({ url, kind: 'tunnel' });
      expect(plan.chain[0]).toBe('d3');
    }
  });
});

test.each([
  ['an http master', 'http://get.example:0', LINK],
  ['an http origin', 'https://get.example:0', '/get/http/origin.example/f'],
])('whoever has no secrecy by %s is led to the fastest depot', async (_, publicUrl, link) => {
  await start(publicUrl, ['d3']);
  const { headers } = await rawGet(master.port, link);
  expect(headers.location).toMatch(/^http:\/\/127\.0\.0\.1:7001\//);
});
