/**
 * Handshakes and nothing more: `node handshakes-main.ts <host> <port> <authority> <new|resumed> <amount>
 * [rate]`. Without a rate so many, eight connections at a time, one after the other; else for so many
 * seconds. Says as JSON how many there were, and how many were resumed.
 */
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect, createSecureContext } from 'node:tls';

const AT_ONCE = 8;
/** One that everybody has: newer libraries would add a second key exchange (X25519MLKEM768), and others not. */
const CURVE = 'X25519';
/** How often a rate is kept up with. */
const TICK_MS = 5;

const [host = '', port, caFile = '', mode, amount, rate] = process.argv.slice(2);
const secureContext = createSecureContext({
  ca: readFileSync(caFile),
  minVersion: 'TLSv1.3',
  ecdhCurve: CURVE,
});
const options: ConnectionOptions = { host, port: Number(port), secureContext };
const counts = { handshakes: 0, resumed: 0, failed: 0, seconds: 0 };
const session = mode === 'resumed' ? await firstSession() : undefined;
const started = performance.now();
let begun = 0;

if (rate === undefined) await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther));
else await atRate(Number(rate));
counts.seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify(counts)}\n`);
process.exit();

async function oneAfterTheOther(): Promise<void> {
  while (begun < Number(amount)) {
    begun += 1;
    await shakeHands();
  }
}

function atRate(perSecond: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (performance.now() - started >= Number(amount) * 1000) {
        clearInterval(timer);
        resolve();
        return;
      }
      const due = ((performance.now() - started) / 1000) * perSecond;
      for (; begun < due; begun += 1) void shakeHands();
    }, TICK_MS);
  });
}

function shakeHands(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ ...options, ...(session ? { session } : {}) }, () => {
      counts.handshakes += 1;
      if (socket.isSessionReused()) counts.resumed += 1;
      socket.destroy();
    });
    socket.once('error', () => {
      counts.failed += 1;
    });
    socket.once('close', () => resolve());
  });
}

/** A session that the server gives after its handshake. */
function firstSession(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    socket.once('error', reject);
    socket.once('session', (given) => {
      resolve(given);
      socket.destroy();
    });
  });
}
