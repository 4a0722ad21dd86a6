import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serve } from '../testing/serve.ts';
import { greetDepot, probeFile, whoIsAt } from './probe-file.ts';

/** How depots are asked. */
const RELAYED = `/a?ab.cd.${'e'.repeat(86)}&server=origin.example&port=443&scheme=https`;
const patient = new AbortController().signal;

it('asks for one byte, and learns of the file what the origin says', async () => {
  let asked: IncomingHttpHeaders = {};
  const depot = await serve(({ headers }, outgoing) => {
    asked = headers;
    outgoing
      .writeHead(206, {
        'content-range': 'bytes 0-0/123456',
        'content-type': 'Application/ZIP; x=y',
        'content-disposition': 'attachment; filename="a.zip"',
        etag: '"v1"',
        'last-modified': 'Sun, 01 Nov 2026 12:00:00 GMT',
      })
      .end('a');
  });
  expect(await probeFile(`${depot}/a?ticket`, patient)).toEqual({
    result: 'file',
    file: {
      totalBytes: 123456,
      etag: '"v1"',
      lastModified: 'Sun, 01 Nov 2026 12:00:00 GMT',
      mime: 'application/zip',
    },
    name: 'a.zip',
  });
  expect(asked.range).toBe('bytes=0-0');
  expect(asked.cookie).toBeUndefined();
  expect(asked.referer).toBeUndefined();
});

it('asks for the byte from which a download would go on', async () => {
  const depot = await serve(({ headers }, outgoing) => {
    outgoing.writeHead(206, { 'content-range': `${headers.range?.replace('=', ' ')}/9` }).end('a');
  });
  expect(await probeFile(depot, patient, 7)).toMatchObject({ result: 'file', file: { totalBytes: 9 } });
});

it('asks for a byte of one version, which a depot may give that knows another one as wrong', async () => {
  const depot = await serve(({ headers }, outgoing) => {
    if (headers['if-match'] !== '"v2"')
      outgoing.writeHead(503, { 'longhaul-error': 'origin-digest-wrong' }).end();
    else outgoing.writeHead(206, { 'content-range': `${headers.range?.replace('=', ' ')}/9` }).end('a');
  });
  const wrong = { result: 'refused', code: 'origin-digest-wrong' };
  expect(await probeFile(depot, patient, 7)).toEqual(wrong);
  expect(await probeFile(depot, patient, 7, { 'if-match': '"v1"' })).toEqual(wrong);
  expect(await probeFile(depot, patient, 7, { 'if-match': '"v2"' })).toMatchObject({ result: 'file' });
});

it('is refused where that version is no more', async () => {
  const origin = await serve((_incoming, outgoing) => outgoing.writeHead(412).end());
  expect(await probeFile(origin, patient, 7, { 'if-match': '"v1"' })).toEqual({
    result: 'refused',
    code: '',
  });
});

it('takes the whole file for no answer to a request for a byte, and hangs up at once', async () => {
  const hungUp = Promise.withResolvers<void>();
  const depot = await serve((_incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-length': 99_000_000 }).write('a');
    outgoing.on('close', hungUp.resolve);
  });
  expect(await probeFile(depot, patient)).toEqual({ result: 'refused', code: '' });
  await hungUp.promise;
});

it.each([204, 401, 403, 404, 416, 502, 503])('is told why by a depot that answers %i', async (status) => {
  const depot = await serve((_incoming, outgoing) =>
    outgoing.writeHead(status, { 'longhaul-error': 'origin-crowded' }).end(),
  );
  expect(await probeFile(depot, patient)).toEqual({ result: 'refused', code: 'origin-crowded' });
});

it('has a depot say why it would lead elsewhere, and asks nothing of the kind of an origin', async () => {
  const said: unknown[] = [];
  const depot = await serve(({ headers }, outgoing) => {
    said.push(headers['longhaul-probe']);
    if (headers['longhaul-probe'] === undefined) outgoing.writeHead(307, { location: '/' }).end();
    else outgoing.writeHead(403, { 'longhaul-error': 'origin-needs-login' }).end();
  });
  const refused = { result: 'refused', code: 'origin-needs-login' };
  expect(await probeFile(`${depot}${RELAYED}`, patient)).toEqual(refused);
  expect(said).toEqual(['1']);
  const origin = await serve(({ headers }, outgoing) => {
    said.push(headers['longhaul-probe']);
    outgoing.writeHead(404).end();
  });
  await probeFile(`${origin}/file`, patient);
  expect(said).toEqual(['1', undefined]);
});

it('follows no redirect of a depot, and asks once for it', async () => {
  const asked: string[] = [];
  const depot = await serve(({ url = '' }, outgoing) => {
    asked.push(url);
    outgoing.writeHead(302, { location: '/other' }).end();
  });
  expect(await probeFile(`${depot}${RELAYED}`, patient)).toEqual({ result: 'refused', code: '' });
  expect(asked).toEqual([RELAYED]);
});

it.each([
  ['a public one may', 'https://origin.example/a', 'https://bucket.example/a', 'file'],
  ['a private one', 'https://origin.example/a', 'https://192.168.1.1/a', 'refused'],
  ['what is not encrypted', 'https://origin.example/a', 'http://bucket.example/a', 'refused'],
  ['what is no more private than itself may', 'http://10.0.0.1/a', 'http://10.0.0.2/a', 'file'],
])('takes a file from where an origin leads: %s', async (_where, from, url, result) => {
  const head = { status: 206, headers: { 'content-range': 'bytes 0-0/9' } };
  const led = { redirected: { value: true }, url: { value: url } };
  vi.stubGlobal('fetch', async () => Object.defineProperties(new Response('a', head), led));
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(await probeFile(from, patient)).toMatchObject({ result });
});

it('finds the file where the origin leads, as a browser does', async () => {
  const origin = await serve(({ url, headers }, outgoing) => {
    if (url === '/my/file') outgoing.writeHead(302, { location: '/file?sig=a' }).end();
    else outgoing.writeHead(206, { 'content-range': `${headers.range?.replace('=', ' ')}/9` }).end('a');
  });
  expect(await probeFile(`${origin}/my/file`, patient, 3)).toMatchObject({ file: { totalBytes: 9 } });
});

it('asks up to four times where the connection breaks before the time is up', async () => {
  let asked = 0;
  const depot = await serve((incoming, outgoing) => {
    asked += 1;
    if (asked === 4) outgoing.writeHead(206, { 'content-range': 'bytes 0-0/9' }).end('a');
    else incoming.socket.destroy();
  });
  expect(await probeFile(depot, patient)).toMatchObject({ result: 'file' });
  expect(await probeFile(depot, patient)).toEqual({ result: 'silent' });
  expect(asked).toBe(8);
});

it('waits no longer than it may', async () => {
  const time = new AbortController();
  const depot = await serve((incoming) => void once(incoming.resume(), 'end').then(() => time.abort()));
  expect(await probeFile(depot, time.signal)).toEqual({ result: 'silent' });
});

it('greets a depot without a word about the file', async () => {
  const asked: string[] = [];
  const depot = await serve(({ url = '' }, outgoing) => {
    asked.push(url);
    outgoing.end('ok');
  });
  expect(await greetDepot(`${depot}/secret/file.iso?ticket`, patient)).toBe(true);
  expect(asked).toEqual(['/healthz']);
  const ill = await serve((_incoming, outgoing) => outgoing.writeHead(503).end());
  expect(await greetDepot(ill, patient)).toBe(false);
  expect(await greetDepot('http://127.0.0.1:1', patient)).toBe(false);
  let greetings = 0;
  const restarted = await serve((incoming, outgoing) => {
    greetings += 1;
    if (greetings === 1) incoming.socket.destroy();
    else outgoing.end('ok');
  });
  expect(await greetDepot(restarted, patient), 'whose first connection broke').toBe(true);
});

it('asks which depot is at an address, and takes none for one that does not say', async () => {
  const depot = await serve((_incoming, outgoing) => outgoing.setHeader('longhaul-depot', 'rj-1').end('ok'));
  expect(await whoIsAt(`${depot}/secret/file.iso?ticket`, patient)).toBe('rj-1');
  const older = await serve((_incoming, outgoing) => outgoing.end('ok'));
  expect(await whoIsAt(older, patient)).toBe('');
  expect(await whoIsAt('http://127.0.0.1:1', patient)).toBeUndefined();
});
