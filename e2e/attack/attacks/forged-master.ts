import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stateOf } from '../../bench/soak/process-state.ts';
import { type ServiceProcess, startService } from '../../overlay/service-process.ts';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor } from '../attacker/ground.ts';
import { pour } from '../attacker/hostile-origin.ts';
import { readHead } from '../attacker/read-answer.ts';
import { onSmallMachine } from '../world/limits.ts';

const PROXY_PORT = 9000;
const DEPOT_PORT = 8080;
const LIE_MS = 400;
/** Time for the truth at the end. */
const TRUTH_MS = 1500;
/** An exchange with a master that falls silent is given up after ten seconds. */
const MEMBER_MS = 13_000;
const MOST_RSS_BYTES = 400e6;
const HEAD_END = '\r\n\r\n';

/** What comes back instead of the master's answer, given what the master has said. */
type Lie = (socket: Socket, answer: Buffer, ground: Ground) => unknown;
const LIES: Readonly<Record<string, Lie>> = {
  'a body that was changed': (socket, answer, { facts }) =>
    socket.end(
      Buffer.from(answer.toString('latin1').replaceAll(facts.targets.d2.host, facts.inner), 'latin1'),
    ),
  'a proof that was changed': (socket, answer) =>
    socket.end(answer.toString('latin1').replace(/(longhaul-signature: ).{8}/i, '$1AAAAAAAA')),
  'an answer to an earlier question': (socket, answer) => {
    const old = earlier ?? answer;
    earlier = answer;
    socket.end(old);
  },
  'no proof': (socket, answer) =>
    socket.end(answer.toString('latin1').replace(/longhaul-signature: .*\r\n/i, '')),
  'no JSON': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nno!'),
  'a redirect': (socket, _, { facts }) =>
    socket.end(`HTTP/1.1 307 Go\r\nLocation: http://${facts.inner}/v1/depots\r\nContent-Length: 0\r\n\r\n`),
  'a refusal for ever': (socket) =>
    socket.end('HTTP/1.1 403 No\r\nlonghaul-error: depot-key-mismatch\r\nContent-Length: 0\r\n\r\n'),
  'a code that is none': (socket) =>
    socket.end('HTTP/1.1 500 No\r\nlonghaul-error: __proto__\r\nContent-Length: 0\r\n\r\n'),
  'a body without end': (socket, _, ground) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    return pour(ground, socket, `10000\r\n${'x'.repeat(0x10000)}\r\n`);
  },
  'header lines without end': (socket, _, ground) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    return pour(ground, socket, 'a:b\r\n'.repeat(1000));
  },
  'interim answers without end': (socket, _, ground) =>
    pour(ground, socket, 'HTTP/1.1 103 Hints\r\n\r\n'.repeat(100)),
  garbage: (socket) => socket.end('\0\0\0\0'),
  reset: (socket) => socket.resetAndDestroy(),
  silence: () => undefined,
};
/** The last answer of the master that a lie has kept for later. */
let earlier: Buffer | undefined;

export const FORGED_MASTER: Attack = {
  name: 'forged-master',
  does: `stands between a depot and its master, and gives ${Object.keys(LIES).length} kinds of answers that are not the master's: changed, old, unproved, endless, none`,
  promise:
    'the depot believes the master alone, stays what it was, and is a member again as soon as it hears it',
  worlds: ['splice'],
  quick: ['splice'],
  strike: async (ground) => {
    let lie: Lie | undefined;
    await startProxy(ground, () => lie);
    const depot = await startMisled(ground);
    try {
      await becomeMember(ground, depot);
      const truthAtMs = performance.now() + ground.facts.seconds * 1000 - TRUTH_MS;
      for (const [name, next] of Object.entries(LIES)) {
        if (performance.now() > truthAtMs) break;
        lie = next;
        ground.tally.case();
        await delay(LIE_MS);
        judge(ground, depot, name);
      }
      lie = undefined;
      await becomeMember(ground, depot);
    } finally {
      await depot.kill();
    }
  },
};

/** Waits until the depot says that its master counts on it. */
async function becomeMember(ground: Ground, depot: ServiceProcess): Promise<void> {
  const [host = '', port] = depot.url.replace('http://', '').split(':');
  for (const deadlineMs = performance.now() + MEMBER_MS; performance.now() < deadlineMs; ) {
    const socket = await ground.open({ host, port: Number(port) });
    socket.write(requestFor({ target: '/healthz/ready' }));
    const head = await readHead(socket);
    socket.destroy();
    if (head?.status === 200) return;
    await delay(LIE_MS / 4);
  }
  ground.tally.broke('a depot is a member when it hears its master', 'not ready');
}

/** Hands every question on to the master, and its answer back, unless there is a lie. */
async function startProxy(ground: Ground, lieNow: () => Lie | undefined): Promise<void> {
  const { own, targets } = ground.facts;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const master = connect({ ...targets.master, localAddress: own.misled });
    let come = Buffer.alloc(0);
    socket.on('error', () => master.destroy()).on('close', () => master.destroy());
    master.on('error', () => socket.destroy()).on('end', () => socket.end());
    socket.pipe(master);
    master.on('data', (chunk: Buffer) => {
      come = Buffer.concat([come, chunk]);
      const sizeBytes = answerBytes(come);
      if (sizeBytes === undefined || come.length < sizeBytes) return;
      const answer = come.subarray(0, sizeBytes);
      come = come.subarray(sizeBytes);
      ground.tally.answer('answers of the master');
      const lie = lieNow();
      if (lie) lie(socket, answer, ground);
      else socket.write(answer);
    });
  });
  server.listen(PROXY_PORT, own.misled);
  await once(server, 'listening');
}

/** How long the first answer is, head and body; `undefined` while its head has not come. */
function answerBytes(come: Buffer): number | undefined {
  const end = come.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const bodyBytes = /^content-length: *([0-9]+)/im.exec(come.toString('latin1', 0, end))?.[1];
  return end + HEAD_END.length + Number(bodyBytes ?? 0);
}

/** A depot as any other, but for the way to its master. */
function startMisled({ facts }: Ground): Promise<ServiceProcess> {
  const dir = join(facts.folder, 'misled');
  mkdirSync(dir, { recursive: true });
  const config = {
    id: 'misled',
    listen: { host: facts.own.misled, port: DEPOT_PORT },
    stateDir: join(dir, 'state'),
    master: {
      url: `http://${facts.own.misled}:${PROXY_PORT}`,
      enrolmentSecretFile: facts.secretFile,
      heartbeatSeconds: 0.2,
    },
    addresses: { overlayNetworks: [`${facts.own.misled}/32`, `${facts.targets.d2.host}/32`] },
  };
  return startService('depot', dir, 'misled', config, (command, cwd): ChildProcess => {
    const [program = '', ...args] = onSmallMachine(command, {});
    return spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  });
}

function judge({ facts, tally }: Ground, { pid }: ServiceProcess, lie: string): void {
  if (!existsSync(`/proc/${pid}`)) tally.broke('a depot outlives what its master seems to say', lie);
  else if (stateOf(pid).residentBytes > MOST_RSS_BYTES)
    tally.broke('an answer of the master is bounded', lie);
  const state = join(facts.folder, 'misled', 'state');
  const kept = existsSync(state)
    ? readdirSync(state).map((name) => readFileSync(join(state, name), 'utf8'))
    : [];
  if (kept.some((content) => content.includes(facts.inner)))
    tally.broke('a depot believes the master alone', lie);
}
