/**
 * UDP probes of the self-test: `reflect HOST` sends back what comes; `probe HOST PORT COUNT BATCH INTERVAL_MS
 * BYTES` asks it.
 */
import { createSocket } from 'node:dgram';

/** After so long without an answer the rest counts as lost, in milliseconds. */
const SILENCE_MS = 400;
const [mode, host = '127.0.0.1', ...numbers] = process.argv.slice(2);
const [port = 0, count = 0, batch = 1, intervalMs = 0, sizeBytes = 64] = numbers.map(Number);
if (mode === 'reflect') reflect();
else probe();

function reflect(): void {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => socket.send(message, from.port, from.address));
  socket.bind(0, host, () => process.stdout.write(`${JSON.stringify(socket.address().port)}\n`));
}

/** Says the round-trip time of each probe in milliseconds, null for those that got no answer. */
function probe(): void {
  const socket = createSocket('udp4');
  const sentMs: number[] = [];
  const rttsMs: (number | null)[] = Array.from({ length: count }, () => null);
  const silence = setTimeout(end, SILENCE_MS);
  socket.on('message', (message) => {
    const number = message.readUInt32BE();
    rttsMs[number] = performance.now() - (sentMs[number] ?? 0);
    silence.refresh();
  });
  let sender: NodeJS.Timeout;
  // Connected, a socket sends at once instead of looking up the host first.
  socket.connect(port, host, () => {
    sender = setInterval(sendBatch, intervalMs);
    sendBatch();
  });

  function sendBatch(): void {
    for (let sent = 0; sent < batch && sentMs.length < count; sent += 1) {
      const message = Buffer.alloc(sizeBytes);
      message.writeUInt32BE(sentMs.length);
      sentMs.push(performance.now());
      socket.send(message);
    }
    silence.refresh();
    if (sentMs.length === count) clearInterval(sender);
  }

  function end(): void {
    process.stdout.write(`${JSON.stringify(rttsMs)}\n`, () => process.exit());
  }
}
