/**
 * The benchmark's source: `node source-main.ts --host <address> --port <port>`. Answers `GET /<size>` with so
 * many bytes of the pattern, and `GET /<size>?first=<n>` with only the first n of them, then with silence.
 * Bodies go from a file in memory to the socket inside the kernel (`sendfile`), so that the source is never
 * what a run waits for.
 */
import { parseArgs } from 'node:util';
import { EAGAIN, openTrafficKernel, READABLE, WRITABLE } from './kernel.ts';
import { PATTERN_BYTES, patternBytes } from './pattern.ts';

/** Bytes of one call: flows take turns, and a call still costs little for each byte. */
const TURN_BYTES = 2 * 1024 * 1024;
/** How long the loop keeps the process from hearing that its parent is gone. */
const WAIT_MS = 200;

interface Answer {
  request: string;
  /** Where in the body this answer stands, and how far it will go. */
  sentBytes: number;
  endBytes: number;
  /** A silent answer keeps its connection open at `endBytes`. */
  isWhole: boolean;
}

const { values } = parseArgs({
  options: { host: { type: 'string', default: '127.0.0.1' }, port: { type: 'string', default: '0' } },
});
const kernel = await openTrafficKernel();
const file = kernel.memoryFile(patternBytes());
const listener = kernel.listen(values.host, Number(values.port));
const poll = kernel.createPoll();
const answers = new Map<number, Answer>();
const incoming = Buffer.alloc(16 * 1024);

process.on('disconnect', () => process.exit());
poll.add(listener, READABLE);
process.send?.({ ready: { url: `http://${values.host}:${kernel.portOf(listener)}` } });
serve();

function serve(): void {
  poll.wait(WAIT_MS, (descriptor, is) => {
    if (descriptor === listener) acceptAll();
    else if ((is & WRITABLE) !== 0 && answers.get(descriptor)?.endBytes) sendTurn(descriptor);
    else read(descriptor);
  });
  setImmediate(serve);
}

function acceptAll(): void {
  for (let descriptor = kernel.accept(listener); descriptor >= 0; descriptor = kernel.accept(listener)) {
    answers.set(descriptor, { request: '', sentBytes: 0, endBytes: 0, isWhole: true });
    poll.add(descriptor, READABLE);
  }
}

function read(descriptor: number): void {
  const answer = answers.get(descriptor);
  const count = kernel.receive(descriptor, incoming);
  if (!answer || count <= 0) {
    end(descriptor);
    return;
  }
  answer.request += incoming.toString('latin1', 0, count);
  if (!answer.request.includes('\r\n\r\n') || answer.endBytes > 0) return;
  // A forward proxy asks with the whole URL or with the path alone.
  const asked = /^GET (?:http:\/\/[^/]+)?\/([0-9]+)(?:\?first=([0-9]+))? /.exec(answer.request);
  const sizeBytes = Number(asked?.[1] ?? 0);
  answer.endBytes = Math.min(Number(asked?.[2] ?? sizeBytes), sizeBytes);
  answer.isWhole = answer.endBytes === sizeBytes;
  const status = asked ? '200 OK' : '404 Not Found';
  kernel.send(
    descriptor,
    Buffer.from(
      `HTTP/1.1 ${status}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\nETag: "${sizeBytes}"\r\nAccept-Ranges: bytes\r\nConnection: close\r\n\r\n`,
    ),
  );
  if (answer.endBytes === 0) end(descriptor);
  else poll.change(descriptor, WRITABLE);
}

function sendTurn(descriptor: number): void {
  const answer = answers.get(descriptor);
  if (!answer) return;
  const offset = answer.sentBytes % PATTERN_BYTES;
  const wanted = Math.min(TURN_BYTES, answer.endBytes - answer.sentBytes, PATTERN_BYTES - offset);
  const sent = kernel.sendFile(descriptor, file, offset, wanted);
  if (sent > 0) answer.sentBytes += sent;
  else if (kernel.errno() !== EAGAIN) end(descriptor);
  if (answer.sentBytes < answer.endBytes) return;
  if (answer.isWhole) end(descriptor);
  else poll.change(descriptor, READABLE);
}

function end(descriptor: number): void {
  answers.delete(descriptor);
  kernel.close(descriptor);
}
