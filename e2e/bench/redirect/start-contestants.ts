import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestCa } from '../../certificates/test-ca.ts';
import { requireProgram } from '../../lab/programs.ts';
import { type LinkSpec, startOverlay } from '../../overlay/overlay.ts';
import { onLoopback } from '../../overlay/placement.ts';
import { startProgram } from '../../overlay/service-process.ts';
import { freePort } from '../../programs/free-port.ts';
import type { Contestant } from './redirect-case.ts';

const HOST = '127.0.0.1';
const ORIGIN = 'origin.example';
/** Where those lead to that only answer. */
const ELSEWHERE = 'http://d1.example/';
/** How often a server that is starting is tried. */
const TRY_EVERY_MS = 50;
const START_TIMEOUT_MS = 10_000;

/** A server that redirects whatever it is asked for. */
export interface Redirector {
  readonly pid: number;
  readonly port: number;
  /** What is asked for; behind it a number may stand. */
  readonly path: string;
  /** How each address begins that it leads to. */
  readonly leadsTo: string;
  readonly stop: () => Promise<void>;
}

export interface BenchCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

export interface RedirectorSpec {
  readonly folder: string;
  /** Left out over plain HTTP. */
  readonly tls: BenchCertificate | undefined;
  /** Whether the links make plans lead over depots. */
  readonly links: 'chain' | 'direct';
}

/** Certificate, key and authority for all contestants. */
export async function makeCertificate(folder: string): Promise<BenchCertificate> {
  const ca = await createTestCa();
  const { certPem, keyPem } = await ca.issue([HOST, 'localhost']);
  const files = {
    certFile: join(folder, 'cert.pem'),
    keyFile: join(folder, 'key.pem'),
    caFile: join(folder, 'ca.pem'),
  };
  writeFileSync(files.certFile, certPem);
  writeFileSync(files.keyFile, keyPem);
  writeFileSync(files.caFile, ca.certPem);
  return files;
}

/** Starts one on a free port of loopback. */
export function startRedirector(contestant: Contestant, spec: RedirectorSpec): Promise<Redirector> {
  mkdirSync(spec.folder, { recursive: true });
  if (contestant === 'nginx') return startNginx(spec);
  return contestant === 'node' ? startNode(spec) : startLonghaul(spec);
}

async function startNginx({ folder, tls }: RedirectorSpec): Promise<Redirector> {
  const port = await freePort();
  const secure = tls
    ? `ssl_certificate ${tls.certFile}; ssl_certificate_key ${tls.keyFile}; ssl_protocols TLSv1.3; ssl_session_tickets on;`
    : '';
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn; events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000;
${folders.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
server { listen ${HOST}:${port}${tls ? ' ssl' : ''}; ${secure}
location / { return 302 ${ELSEWHERE}file?ticket; } } }
`,
  );
  const command = ['-p', `${folder}/`, '-e', `${folder}/error.log`, '-c', join(folder, 'nginx.conf')];
  const child = spawn(requireProgram('nginx'), command, { stdio: 'ignore' });
  await listening(port, child);
  return { pid: child.pid ?? 0, port, path: '/file.iso', leadsTo: ELSEWHERE, stop: () => ended(child) };
}

async function startNode({ folder, tls }: RedirectorSpec): Promise<Redirector> {
  const port = await freePort();
  const files = tls ? [tls.certFile, tls.keyFile] : [];
  const program = join(import.meta.dirname, 'node-main.ts');
  const launch = onLoopback(HOST).launchAt('node');
  const { pid, stop } = await startProgram([program, String(port), ...files], folder, 'node', launch);
  return { pid, port, path: '/file.iso', leadsTo: ELSEWHERE, stop };
}

/**
 * A master with three depots that are up; they have nothing to do but to be heard, and to find that the origin can be
 * reached: they would be left out else. No way is made ahead, for which it would have to speak TLS.
 */
async function startLonghaul({ folder, tls, links }: RedirectorSpec): Promise<Redirector> {
  const origin = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, HOST);
  await once(origin, 'listening');
  const { port: originPort } = origin.address() as AddressInfo;
  const overlay = await startOverlay({
    dir: folder,
    placement: onLoopback(HOST),
    depots: ['d1', 'd2', 'd3'].map((id) => ({ id, config: { limits: { preparedWays: 0 } } })),
    links: LINKS[links],
    origins: [ORIGIN],
    originNetwork: '127.0.0.1/32',
    originPorts: [originPort],
    names: { [ORIGIN]: [HOST] },
    ...(tls ? { tls } : {}),
    masterConfig: {
      depots: { heartbeatSeconds: 5 },
      limits: { connectionsPerNetwork: 8_000, waitingPerNetwork: 8_000 },
    },
  });
  const { pid, url } = overlay.master;
  const path = `/get/~size=1000000000/https/${ORIGIN}:${originPort}/images/some-distribution-13.2-netinst.iso`;
  const stop = async () => {
    await overlay.stop();
    origin.close();
  };
  const depot = `${tls ? 'https' : 'http'}://${HOST}:`;
  const leadsTo = links === 'chain' ? depot : `https://${ORIGIN}:${originPort}/`;
  return { pid, port: Number(new URL(url).port), path, leadsTo, stop };
}

const LINE = { lossRate: 0, rateBps: 1e9 };
const BETWEEN_DEPOTS: readonly LinkSpec[] = [
  { between: ['client', 'd1'], rttMs: 5, ...LINE },
  { between: ['client', 'd3'], rttMs: 40, ...LINE },
  { between: ['d1', 'd2'], rttMs: 190, ...LINE },
  { between: ['d3', 'd2'], rttMs: 180, ...LINE },
  { between: ['d2', 'origin'], rttMs: 5, ...LINE },
];
const LINKS: Readonly<Record<RedirectorSpec['links'], readonly LinkSpec[]>> = {
  chain: [{ between: ['client', 'origin'], rttMs: 200, lossRate: 1e-3, rateBps: 1e8 }, ...BETWEEN_DEPOTS],
  // The origin is near: chains are compared, and none is faster.
  direct: [{ between: ['client', 'origin'], rttMs: 4, ...LINE }, ...BETWEEN_DEPOTS],
};

async function listening(port: number, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadlineMs && child.exitCode === null) {
    const socket = connect(port, HOST);
    const isThere = await Promise.race([
      once(socket, 'connect').then(
        () => true,
        () => false,
      ),
      delay(TRY_EVERY_MS, false),
    ]);
    socket.destroy();
    if (isThere) return;
    await delay(TRY_EVERY_MS);
  }
  throw new Error('nginx did not start');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}
