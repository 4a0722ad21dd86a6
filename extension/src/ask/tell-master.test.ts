import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { serve } from '../testing/serve.ts';
import { tellMaster } from './tell-master.ts';

const soon = () => AbortSignal.timeout(5_000);
const FEEDBACK = { jobId: 'job-1', verdict: 'worked', measured: { bytes: 5, seconds: 1 } } as const;

it('tells a master what it is given and nothing else', async () => {
  let asked: unknown;
  const master = await serve((request, response) => {
    const { method, url, headers } = request;
    expect(headers.cookie).toBeUndefined();
    expect(headers.referer).toBeUndefined();
    void text(request).then((body) => {
      asked = { line: `${method} ${url}`, body: JSON.parse(body) };
      response.end('{}');
    });
  });
  expect(await tellMaster(master, FEEDBACK, soon())).toBe(true);
  expect(asked).toEqual({ line: 'POST /v1/feedback', body: FEEDBACK });
});

it('minds neither a master that refuses nor one that is not there', async () => {
  const master = await serve((_request, response) => response.writeHead(404).end());
  expect(await tellMaster(master, FEEDBACK, soon())).toBe(false);
  expect(await tellMaster('http://127.0.0.1:1', FEEDBACK, soon())).toBe(false);
});
