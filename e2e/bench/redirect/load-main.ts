/**
 * Asks a server again and again: `node load-main.ts <host> <port> <http|full|resumed> <requests> <path>
 * <leads to> <same|new> <first> [authority]`. Over http on sixteen connections that stay, one request after the
 * other on each; over TLS each request on a connection of its own. Ends with code 1 unless every answer leads where
 * it should.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';

const CONNECTIONS = 16;
/** Handshakes at once. */
const HANDSHAKES = 8;
/** One that everybody has: newer libraries would add a second key exchange, and others not. */
const CURVE = 'X25519';

const [
  host = '',
  port = '',
  mode = '',
  requests = '',
  path = '',
  leadsTo = '',
  kind = '',
  first = '0',
  caFile,
] = process.argv.slice(2);
const address = { host, port: Number(port) };
let begun = 0;

if (mode === 'http') await Promise.all(Array.from({ length: CONNECTIONS }, askOnOne));
else await overTls();
process.exit();

function nextRequest(): string | undefined {
  if (begun >= Number(requests)) return undefined;
  begun += 1;
  const target = kind === 'new' ? `${path}-${Number(first) + begun}` : path;
  return `GET ${target} HTTP/1.1\r\nHost: get.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`;
}

function askOnOne(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.setNoDelay(true);
    socket.once('error', fail);
    const ask = () => {
      const request = nextRequest();
      if (request !== undefined) socket.write(request);
      else {
        socket.destroy();
        resolve();
      }
    };
    eachAnswer(socket, ask);
    socket.once('connect', ask);
  });
}

/** Calls `done` after each whole answer; all have a length. */
function eachAnswer(socket: Socket, done: () => void): void {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += String(chunk);
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(text.slice(0, head))?.[1] ?? 0);
    if (text.length < head + 4 + length) return;
    const isLed = text.toLowerCase().includes(`\r\nlocation: ${leadsTo}`);
    if (!isLed || !/^HTTP\/1\.1 30[27] /.test(text)) fail(new Error(text.slice(0, head)));
    text = text.slice(head + 4 + length);
    done();
  });
}

async function overTls(): Promise<void> {
  const secureContext = createSecureContext({
    ca: readFileSync(caFile ?? ''),
    minVersion: 'TLSv1.3',
    ecdhCurve: CURVE,
  });
  const askOver = (session: Buffer | undefined, onSession?: (session: Buffer) => void): Promise<void> => {
    const request = nextRequest();
    if (request === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const options = { ...address, servername: 'localhost', secureContext, ...(session ? { session } : {}) };
      const socket = connectTls(options, () => {
        if (session && !socket.isSessionReused()) fail(new Error('a session was not resumed'));
        socket.write(request);
      });
      socket.once('error', fail);
      if (onSession) socket.on('session', onSession);
      eachAnswer(socket, () => socket.destroy());
      socket.once('close', () => resolve());
    });
  };
  let session: Buffer | undefined;
  if (mode === 'resumed')
    await askOver(undefined, (given) => {
      session = given;
    });
  if (mode === 'resumed' && !session) fail(new Error('no session was given'));
  const oneAfterTheOther = async () => {
    while (begun < Number(requests)) await askOver(session);
  };
  await Promise.all(Array.from({ length: HANDSHAKES }, oneAfterTheOther));
}

function fail(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
