/** `npm start`: a working overlay on this machine's loopback, with a sample to download and the add-on to try. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildExtension } from '@longhaul/extension/build';
import { formatGetPath, LonghaulError, parseOriginUrl } from '@longhaul/shared';
import { buildPages } from './build-pages.ts';
import { IMAGINARY_RATE_BPS, IMAGINARY_WAN, IMAGINARY_WAN_NOTE } from './imaginary-wan.ts';
import { type OriginServer, startOrigin } from './origin-server.ts';
import { type Overlay, startOverlay } from './overlay.ts';
import { onLoopback } from './placement.ts';
import { sampleBytes, sha256Hex } from './sample-bytes.ts';

const root = join(import.meta.dirname, '..', '..');
const HOST = '127.0.0.1';
/** Origin, master and three depots take this port and the four after it. Below the range of ephemeral ports. */
const DEFAULT_PORT = 8470;
const SAMPLE_BYTES = 32 * 1024 * 1024;
const SAMPLE_NAME = 'sample.bin';
const USAGE = `Usage: npm start -- [--port <number>] [--state <folder>]

Runs an overlay on this machine's loopback: an origin with a sample to download, a master and three depots.

Options:
  --port <number>   the first of five ports, or 0 for any that are free (${DEFAULT_PORT}, or LONGHAUL_PORT)
  --state <folder>  what the services keep, and the add-on to try (.longhaul, or LONGHAUL_STATE)
  -h, --help        this text
`;
let origin: OriginServer | undefined;
let overlay: Overlay | undefined;
let stopping = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));

try {
  await start();
} catch (failure) {
  const text = failure instanceof Error ? failure.message : String(failure);
  const hint = /EADDRINUSE|port-in-use/.test(text)
    ? 'A port is in use. Choose others: npm start -- --port 0\n'
    : '';
  process.stderr.write(`longhaul: ${text}\n${hint}`);
  await stop(1);
}

async function start(): Promise<void> {
  const options = readOptions();
  if (!options) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const { port, stateDir } = options;
  const at = (offset: number) => (port === 0 ? 0 : port + offset);
  const sample = sampleBytes(SAMPLE_BYTES, 1);
  process.stdout.write('Starting an overlay on loopback ...\n');

  const pages = buildPages();
  origin = await startOrigin({
    listenHost: HOST,
    port: at(0),
    rateBps: IMAGINARY_RATE_BPS,
    content: (path) => {
      // What may be kept may be asked for in parts, over lanes.
      if (path === `/${SAMPLE_NAME}`)
        return { body: sample, headers: { 'Cache-Control': 'public, max-age=600' } };
      if (path === '/') return (_, response) => response.end(originPage());
      return undefined;
    },
  });
  await pages;
  overlay = await startOverlay({
    dir: stateDir,
    depots: ['d1', 'd2', 'd3'].map((id, index) => ({ id, port: at(2 + index) })),
    links: IMAGINARY_WAN,
    placement: onLoopback(HOST),
    masterPort: at(1),
    origins: [`${HOST}:${origin.port}`],
    originNetwork: '127.0.0.0/8',
    originPorts: [origin.port],
    note: IMAGINARY_WAN_NOTE,
  });
  const extension = await buildAddOn(
    join(stateDir, 'extension'),
    overlay.master.url,
    `${HOST}:${origin.port}`,
  );

  const sampleUrl = `http://${HOST}:${origin.port}/${SAMPLE_NAME}`;
  const ready = {
    master: overlay.master.url,
    origin: `http://${HOST}:${origin.port}`,
    depots: overlay.depots.map((depot) => depot.url),
    sample: { url: sampleUrl, sizeBytes: sample.length, sha256: sha256Hex(sample) },
    extension,
  };
  if (!stopping)
    process.stdout.write(`${usage(ready.master, sampleUrl, extension)}ready ${JSON.stringify(ready)}\n`);
}

/** What the command line asks for; `undefined` where it only asks what it may. */
function readOptions(): { port: number; stateDir: string } | undefined {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string', default: process.env.LONGHAUL_PORT ?? String(DEFAULT_PORT) },
      state: { type: 'string', default: process.env.LONGHAUL_STATE ?? join(root, '.longhaul') },
    },
  });
  if (values.help) return undefined;
  const port = Number(values.port);
  if (!/^[0-9]+$/.test(values.port) || port > 65_531) {
    throw new LonghaulError('config-invalid', {
      detail: `--port ${values.port}: give 0 for any free ports, or the first of five from 1 to 65531`,
    });
  }
  return { port, stateDir: resolve(values.state) };
}

async function buildAddOn(
  dir: string,
  master: string,
  sampleHost: string,
): Promise<{ chrome: string; firefox: string }> {
  const dirs = { chrome: join(dir, 'chrome'), firefox: join(dir, 'firefox') };
  for (const target of ['chrome', 'firefox'] as const) {
    const defaults = { master, privateHosts: [sampleHost], consented: true };
    await buildExtension({ outDir: dirs[target], target, defaults });
  }
  return dirs;
}

function usage(master: string, sampleUrl: string, extension: { chrome: string; firefox: string }): string {
  const url = parseOriginUrl(sampleUrl);
  const getPath = url.ok ? formatGetPath(url.value) : '';
  return `
Longhaul runs, on this machine's loopback only.

  Page      ${master}/
  Download  curl --fail -L -O ${master}${getPath}
  Add-on    Chromium: chrome://extensions, Developer mode, "Load unpacked":
              ${extension.chrome}
            Firefox: about:debugging, This Firefox, "Load Temporary Add-on":
              ${join(extension.firefox, 'manifest.json')}
            then download ${sampleUrl}

End with Ctrl-C.

`;
}

function originPage(): string {
  return `<!doctype html><title>Sample origin</title><p><a href="/${SAMPLE_NAME}">${SAMPLE_NAME}</a></p>\n`;
}

async function stop(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  const ended = await Promise.allSettled([overlay?.stop(), origin?.close()]);
  const failed = ended.find((result) => result.status === 'rejected');
  if (failed) process.stderr.write(`longhaul: ${String(failed.reason)}\n`);
  process.exit(failed ? 1 : exitCode);
}
