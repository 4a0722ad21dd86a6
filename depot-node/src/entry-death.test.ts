import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { openKernel } from './kernel/open-kernel.ts';
import { startTestOverlay } from './testing/overlay.ts';

const tls = selfSigned();
const FIRST_BYTES = 500_000;
const COUNTED = { 'Content-Length': '2000000' };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/**
 * A process with a depot that passes all bodies on itself, and an origin that stops in the middle of each;
 * gives the address of a download.
 */
async function startDepot(headers: object, material: object) {
  const overlay = JSON.stringify(new URL('./testing/overlay.ts', import.meta.url).href);
  const code = `
    const { startTestOverlay } = await import(${overlay});
    const overlay = await startTestOverlay(
      ['d1'],
      (_, response) => response.writeHead(200, ${JSON.stringify(headers)}).write(Buffer.alloc(${FIRST_BYTES})),
      undefined,
      ${JSON.stringify(material)},
    );
    console.log(overlay.relayUrl(overlay.originUrl + '/held.bin'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, address };
}

function ask(address: string, version: string) {
  const { protocol, hostname, port, pathname, search } = new URL(address);
  const place = { host: hostname, port: Number(port) };
  const socket = protocol === 'https:' ? connectTls({ ...place, ca: tls.cert }) : connect(place);
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${pathname}${search} HTTP/${version}\r\nHost: ${hostname}:${port}\r\n\r\n`);
  return socket;
}

describe.skipIf(!openKernel().kernel)('the death of an entry depot', () => {
  test.each([
    ['a counted file without anything that tells its version', COUNTED, '1.1', {}, 'ECONNRESET'],
    ['it over TLS', COUNTED, '1.1', { tls }, 'ECONNRESET'],
    ['a file of no known length', { ETag: '"v1"' }, '1.1', {}, 'ECONNRESET'],
    ['it for a client that knows no chunks', { ETag: '"v1"' }, '1.0', {}, 'ECONNRESET'],
    ['a file that any client sees the end of', { ...COUNTED, ETag: '"v1"' }, '1.1', {}, 'ended'],
  ])('in the middle of %s does not look like its end', async (_what, headers, version, material, how) => {
    const { child, address } = await startDepot(headers, material);
    const client = ask(address, version);
    const over = new Promise((resolve) => {
      client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      client.on('end', () => resolve('ended'));
    });
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await expect.poll(() => bytes).toBeGreaterThan(FIRST_BYTES);
    child.kill('SIGKILL');
    expect(await over).toBe(how);
  });
});

describe.each([
  ['a counted file', (file: Buffer) => ({ 'Content-Length': file.length })],
  ['a file of no known length', () => ({})],
])('%s without anything that tells its version', (_what, headersOf) => {
  // The kernel takes the shorter one at once.
  test.each([
    [100_000, '1.0', {}],
    [20_000_000, '1.0', {}],
    [100_000, '1.1', {}],
    [20_000_000, '1.1', { tls }],
  ])('of %i bytes comes whole by HTTP/%s to who reads it late', async (sizeBytes, version, material) => {
    const file = Buffer.alloc(sizeBytes, 'f');
    const overlay = await startTestOverlay(
      ['d1'],
      (_, response) => response.writeHead(200, headersOf(file)).end(file),
      undefined,
      material,
    );
    onTestFinished(() => overlay.close());
    const client = ask(overlay.relayUrl(`${overlay.originUrl}/whole.bin`), version);
    const over = version === '1.0' ? once(client, 'end') : undefined;
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // Slower than the depot, whose kernel still has something when all is sent.
      client.pause();
      setImmediate(() => client.resume());
    });
    client.pause();
    const { events } = overlay.depot('d1');
    const complete = expect.objectContaining({ type: 'transfer', outcome: 'complete' });
    if (sizeBytes < 20_000_000) await expect.poll(() => events).toContainEqual(complete);
    client.resume();
    await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(sizeBytes);
    await over;
    await expect.poll(() => events).toContainEqual(complete);
  });
});
