/**
 * Asks a master for redirects at a rate that does not wait for answers: `node flood-main.ts <port> <path>
 * <connections> <rate> <seconds> <first> <address>`. Each request is for another file; a request whose turn
 * comes when all connections are busy waits, and its time counts from its turn on. Rate 0: on each connection
 * one request after the other. Writes one line of JSON.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { quantile } from '../../lab/results/statistics.ts';
import type { Flood } from './overload-line.ts';

/** How often requests are sent whose turn has come. */
const PACE_MS = 5;
/** How long answers are waited for that were asked for last. */
const LAST_ANSWERS_MS = 5_000;

const [port = '', path = '', connections = '', rate = '', seconds = '', first = '0', localAddress = ''] =
  process.argv.slice(2);
const answers = { chain: 0, direct: 0, refused: 0 };
const tookMs: number[] = [];
const idle: Socket[] = [];
/** Turns of requests that no connection is free for, in order; those before `#head` have been sent. */
const waiting: number[] = [];
let head = 0;
let sent = 0;
let isOver = false;

const sockets = await Promise.all(Array.from({ length: Number(connections) }, open));
const beganMs = performance.now();
const endMs = beganMs + Number(seconds) * 1000;
if (Number(rate) === 0) for (const socket of idle.splice(0)) ask(socket, performance.now());
else await pace();
while (performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, PACE_MS));
isOver = true;
const lastMs = endMs + LAST_ANSWERS_MS;
const answered = () => answers.chain + answers.direct + answers.refused;
const inTime = answered();
while (idle.length < sockets.length && performance.now() < lastMs) {
  await new Promise((resolve) => setTimeout(resolve, PACE_MS));
}
const wanted = Number(rate) === 0 ? sent : Math.floor(Number(rate) * Number(seconds));
/** 0 where nothing was answered. */
const tookAt = (share: number) => (tookMs.length > 0 ? quantile(tookMs, share) : 0);
const flood: Flood = {
  wanted,
  answered: inTime,
  ...answers,
  seconds: Number(seconds),
  p50Ms: tookAt(0.5),
  p99Ms: tookAt(0.99),
};
process.stdout.write(`${JSON.stringify(flood)}\n`);
process.exit();

async function pace(): Promise<void> {
  for (let due = 0; performance.now() < endMs; ) {
    const nowMs = performance.now();
    const until = Math.floor(((nowMs - beganMs) / 1000) * Number(rate));
    for (; due < until; due += 1) waiting.push(beganMs + (due / Number(rate)) * 1000);
    // The one that has rested longest: a master ends those that bring nothing.
    for (let socket = idle.shift(); socket; socket = idle.shift()) {
      const turnMs = waiting[head];
      if (turnMs === undefined) {
        idle.push(socket);
        break;
      }
      head += 1;
      ask(socket, turnMs);
    }
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
}

async function open(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', fail);
  await once(socket, 'connect');
  idle.push(socket);
  return socket;
}

function ask(socket: Socket, turnMs: number): void {
  sent += 1;
  let text = '';
  socket.removeAllListeners('data');
  socket.on('data', (chunk) => {
    text += String(chunk);
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(text)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    if (!text.startsWith('HTTP/1.1 307 ')) answers.refused += 1;
    else if (text.includes('#lh-direct\r\n')) answers.direct += 1;
    else answers.chain += 1;
    tookMs.push(performance.now() - turnMs);
    const nextMs = Number(rate) === 0 ? performance.now() : waiting[head];
    if (isOver || nextMs === undefined) {
      idle.push(socket);
      return;
    }
    head += 1;
    ask(socket, nextMs);
  });
  socket.write(
    `GET ${path}-${Number(first) + sent} HTTP/1.1\r\nHost: get.example\r\nUser-Agent: Mozilla/5.0 (bench)\r\nAccept: */*\r\n\r\n`,
  );
}

function fail(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
