import type { Socket } from 'node:net';
import { type Ground, requestFor } from './ground.ts';
import { pour, rangeOf, type SeenRequest, startHostileOrigin } from './hostile-origin.ts';

/** Longer than any strike: 10 GB. */
export const BIG_FILE_BYTES = 10_000_000_000;
const PIECE = Buffer.alloc(64 * 1024);

/**
 * An origin that does all that it should: one huge file at every path, in ranges, as fast as the attacker's
 * line is.
 */
export function startBigFileOrigin(ground: Ground, host = ground.facts.own.origin): Promise<void> {
  return startHostileOrigin(ground, (request) => void sendBigFile(ground, request), host);
}

/** Answers with the file, or the part that is asked for. */
export async function sendBigFile(ground: Ground, request: SeenRequest): Promise<void> {
  const { socket } = request;
  const length = beginBigFile(request);
  await pour(ground, socket, PIECE, Math.floor(length / PIECE.length));
  socket.write(PIECE.subarray(0, length % PIECE.length));
}

/** Sends the head of that answer; gives the length of its body. */
export function beginBigFile(request: SeenRequest): number {
  const range = rangeOf(request);
  const { first, last = BIG_FILE_BYTES - 1 } = range ?? { first: 0 };
  const length = last - first + 1;
  const part = range ? `Content-Range: bytes ${first}-${last}/${BIG_FILE_BYTES}\r\n` : '';
  const status = range ? '206 Partial Content' : '200 OK';
  request.socket.write(
    `HTTP/1.1 ${status}\r\nETag: "1"\r\nAccept-Ranges: bytes\r\nContent-Length: ${length}\r\n${part}\r\n`,
  );
  return length;
}

/** Begins so many downloads of that file over lanes, all at once, and gives each connection to `use`. */
export async function beginLaned(
  ground: Ground,
  { downloads, lanes }: { readonly downloads: number; readonly lanes: number },
  use: (socket: Socket) => void,
): Promise<void> {
  await Promise.all(
    Array.from({ length: downloads }, async () => {
      const url = `http://a.hostile.example${ground.path(1)}`;
      const download = await ground.plan(url, { via: ['d1'], lanes, sizeBytes: BIG_FILE_BYTES });
      const socket = await ground.open('d1');
      if (!download) return;
      ground.tally.case();
      socket.once('close', () => ground.tally.answer('ended'));
      use(socket);
      socket.write(requestFor(download));
    }),
  );
}
