import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import { serve } from '../testing/serve.ts';
import { probeDepot } from './probe-depot.ts';

const patient = new AbortController().signal;

it('asks for one byte and learns length and type', async () => {
  let asked: IncomingHttpHeaders = {};
  const depot = await serve(({ headers }, outgoing) => {
    asked = headers;
    outgoing
      .writeHead(206, { 'content-range': 'bytes 0-0/123456', 'content-type': 'Application/ZIP; x=y' })
      .end('a');
  });
  expect(await probeDepot(`${depot}/a?ticket`, patient)).toEqual({
    totalBytes: 123456,
    mime: 'application/zip',
  });
  expect(asked.range).toBe('bytes=0-0');
  expect(asked.cookie).toBeUndefined();
  expect(asked.referer).toBeUndefined();
});

it('accepts a whole answer, and hangs up at once instead of reading it', async () => {
  const hungUp = Promise.withResolvers<void>();
  const depot = await serve((_incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-length': 99_000_000 }).write('a');
    outgoing.on('close', hungUp.resolve);
  });
  expect(await probeDepot(depot, patient)).toEqual({ totalBytes: 99_000_000, mime: '' });
  await hungUp.promise;
});

it('does not invent a length', async () => {
  const depot = await serve((_incoming, outgoing) =>
    outgoing.writeHead(206, { 'content-range': 'bytes 0-0/*' }).end('a'),
  );
  expect((await probeDepot(depot, patient))?.totalBytes).toBeUndefined();
});

it.each([204, 302, 401, 403, 404, 416, 502, 503])(
  'does not trust a depot that answers %i',
  async (status) => {
    const depot = await serve((_incoming, outgoing) =>
      outgoing.writeHead(status, { location: '/other' }).end(),
    );
    expect(await probeDepot(depot, patient)).toBeUndefined();
  },
);

it('waits no longer than it may', async () => {
  const time = new AbortController();
  const depot = await serve((incoming) => void once(incoming.resume(), 'end').then(() => time.abort()));
  expect(await probeDepot(depot, time.signal)).toBeUndefined();
});
