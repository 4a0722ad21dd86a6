import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Both ends of a real TCP connection, the connecting one first. */
export async function socketPair(): Promise<[Socket, Socket]> {
  const listener = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const outer = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  const [[inner]] = (await Promise.all([once(listener, 'connection'), once(outer, 'connect')])) as [
    [Socket],
    [],
  ];
  listener.close();
  return [outer, inner];
}

/** What has come out of a socket. */
export interface Received {
  readonly length: () => number;
  /** All bytes so far, as soon as there are `sizeBytes`. */
  readonly until: (sizeBytes: number) => Promise<Buffer>;
  /** `end`, or the code of the error that broke the connection. */
  readonly end: Promise<string>;
  /** All bytes, after a clean end. */
  readonly all: () => Promise<Buffer>;
  readonly digest: () => Promise<string>;
}

/** Reads a socket to its end. */
export function receive(socket: Socket): Received {
  const chunks: Buffer[] = [];
  let length = 0;
  const waiting = new Set<() => void>();
  const end = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('close'));
  });
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    for (const look of waiting) look();
  });
  socket.resume();
  const all = async () => {
    const how = await end;
    if (how !== 'end') throw new Error(`broke after ${length} bytes: ${how}`);
    return Buffer.concat(chunks);
  };
  return {
    length: () => length,
    until: (sizeBytes) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (length < sizeBytes) return;
          waiting.delete(look);
          resolve(Buffer.concat(chunks));
        };
        waiting.add(look);
        look();
        void end.then((how) => {
          look();
          reject(new Error(`${how} after ${length} of ${sizeBytes} bytes`));
        });
      }),
    end,
    all,
    digest: async () =>
      createHash('sha256')
        .update(await all())
        .digest('hex'),
  };
}

/** Writes a big buffer in pieces, as a program would. */
export function writeAll(socket: Socket, data: Buffer): void {
  for (let offset = 0; offset < data.length; offset += 1_000_000) {
    socket.write(data.subarray(offset, offset + 1_000_000));
  }
}
