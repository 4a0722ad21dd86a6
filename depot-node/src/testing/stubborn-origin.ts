import { createServer, type Server, type Socket } from 'node:net';

/** How an origin answers requests of which the next one comes before it has answered the one before. */
export type Manner =
  | 'well'
  | 'ends-unsaid'
  | 'ends-said'
  | 'first-only'
  | 'resets'
  | 'last-first'
  | 'one-range-for-all'
  | 'length-and-chunks'
  | 'chunks'
  | 'whole-now-and-then'
  | 'old-protocol'
  | 'interim'
  | 'other-version-each'
  | 'range-unsaid'
  | 'shorter-parts'
  | 'other-total';

/** What was asked ahead is there before the first answer has gone, also on a busy machine. */
const ANSWERS_AFTER_MS = 20;

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly isPart: boolean;
}

interface Peer {
  readonly socket: Socket;
  readonly index: number;
  readonly waiting: Asked[];
  text: string;
  answers: number;
  isAnswering: boolean;
}

/** A web server with one file, on bare sockets: it answers as no library would let it. */
export class StubbornOrigin {
  readonly file: Buffer;
  manner: Manner = 'well';
  /** Most requests that waited on one connection while another one was answered. */
  mostWaiting = 0;
  requests = 0;
  connections = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  constructor(file: Buffer) {
    this.file = file;
    this.#server = createServer({ allowHalfOpen: false }, (socket) => {
      const peer: Peer = {
        socket,
        index: this.connections,
        waiting: [],
        text: '',
        answers: 0,
        isAnswering: false,
      };
      this.connections += 1;
      this.#open.add(socket);
      socket.on('error', () => {}).on('close', () => this.#open.delete(socket));
      socket.on('data', (chunk) => {
        peer.text += chunk.toString('latin1');
        for (let end = peer.text.indexOf('\r\n\r\n'); end >= 0; end = peer.text.indexOf('\r\n\r\n')) {
          this.#take(peer, peer.text.slice(0, end));
          peer.text = peer.text.slice(end + 4);
        }
        this.#answerNext(peer);
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  begin(manner: Manner): void {
    this.manner = manner;
    this.mostWaiting = 0;
    this.requests = 0;
    this.connections = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(peer: Peer, head: string): void {
    this.requests += 1;
    const [, first, last] = /\r\nrange: bytes=([0-9]+)-([0-9]*)/i.exec(head) ?? [];
    const to = last ? Math.min(Number(last) + 1, this.file.length) : this.file.length;
    const asked = { from: Number(first ?? 0), to, isPart: first !== undefined };
    if (peer.isAnswering) this.mostWaiting = Math.max(this.mostWaiting, peer.waiting.length + 1);
    if (this.manner === 'resets' && peer.isAnswering) peer.socket.resetAndDestroy();
    else if (this.manner !== 'first-only' || !peer.isAnswering) peer.waiting.push(asked);
  }

  #answerNext(peer: Peer): void {
    if (peer.isAnswering || peer.socket.destroyed) return;
    const { waiting } = peer;
    const isTurned = this.manner === 'last-first' && waiting.length > 1;
    const asked = isTurned ? waiting.pop() : waiting.shift();
    if (!asked) return;
    const { isPart } = asked;
    peer.isAnswering = true;
    peer.answers += 1;
    setTimeout(() => {
      if (peer.socket.destroyed) return;
      const next = waiting[0];
      const isMixed = this.manner === 'one-range-for-all' && peer.answers > 1 && isPart;
      const given = isMixed ? { ...asked, from: 0, to: asked.to - asked.from } : asked;
      peer.socket.write(this.#answer(peer, given, next), () => {
        peer.isAnswering = false;
        const ends =
          this.manner === 'ends-unsaid' || this.manner === 'ends-said' || this.manner === 'old-protocol';
        if (ends) peer.socket.end();
        else this.#answerNext(peer);
      });
    }, ANSWERS_AFTER_MS);
  }

  #answer({ index, answers }: Peer, { from, to: end, isPart }: Asked, next: Asked | undefined): Buffer {
    const { manner, file } = this;
    const isFirst = index === 0 && answers === 1;
    const isWhole = !isPart || (manner === 'whole-now-and-then' && !isFirst && this.requests % 7 === 0);
    const to = manner === 'shorter-parts' && answers > 1 ? Math.min(end, from + 65_536) : end;
    const body = isWhole ? file : file.subarray(from, to);
    const total = manner === 'other-total' && next && answers > 1 ? file.length + 1 : file.length;
    const isChunked =
      (manner === 'chunks' && isPart) || (manner === 'length-and-chunks' && !isFirst && next !== undefined);
    const hasRange = !isWhole && !(manner === 'range-unsaid' && !isFirst && next !== undefined);
    const etag = manner === 'other-version-each' && index % 3 === 2 ? '"other"' : '"one"';
    const lines = [
      ...(manner === 'interim' ? ['HTTP/1.1 103 Early Hints', 'Link: </x>', ''] : []),
      `HTTP/1.${manner === 'old-protocol' ? 0 : 1} ${isWhole ? '200 OK' : '206 Partial Content'}`,
      `ETag: ${etag}`,
      'Accept-Ranges: bytes',
      ...(hasRange ? [`Content-Range: bytes ${from}-${to - 1}/${total}`] : []),
      ...(isChunked ? ['Transfer-Encoding: chunked'] : []),
      ...(manner === 'chunks' && isPart ? [] : [`Content-Length: ${body.length}`]),
      ...(manner === 'ends-said' ? ['Connection: close'] : []),
    ];
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    if (!isChunked) return Buffer.concat([head, body]);
    return Buffer.concat([
      head,
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
  }
}
