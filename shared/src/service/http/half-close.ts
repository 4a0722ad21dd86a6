import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** An end that comes with a request comes within this time, also when its packet is lost once. */
const WITH_REQUEST_MS = 1000;
/** How often it is looked whether a client that has ended its side is still there. */
const LOOK_MS = 1000;
const NOTHING = Buffer.alloc(0);

/** What a connection has been asked for. */
interface Asked {
  atMs: number;
  /** It carries a tunnel now, whose ends are its own. */
  isTunnel: boolean;
  /** Answers that have not gone. */
  readonly open: Set<ServerResponse>;
}

interface HalfCloseInit {
  readonly nowMs?: () => number;
  readonly lookMs?: number;
}

/**
 * Has a server answer clients that end their side of the connection behind their last request, as `nc -N` and
 * programs that speak HTTP/1.0 do. Whoever does so later, or when he has some of an answer, has left like one
 * who closes: TCP does not tell them apart before something is sent, and what he asked for would be fetched
 * for nobody.
 */
export function allowHalfClose(
  server: Server,
  { nowMs = () => performance.now(), lookMs = LOOK_MS }: HalfCloseInit = {},
): void {
  const connections = new WeakMap<Duplex, Asked>();
  // Node's own name for it, which its declarations lack.
  Object.assign(server, { httpAllowHalfOpen: true });
  const note = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const known = connections.get(socket);
    const asked = known ?? { atMs: 0, isTunnel: false, open: new Set() };
    asked.atMs = nowMs();
    asked.open.add(response);
    response.once('close', () => asked.open.delete(response));
    if (known) return;
    connections.set(socket, asked);
    // Before HTTP hears of it, which then ends the connection with the last answer.
    socket.prependListener('end', () => {
      if (asked.isTunnel) return;
      const hasAnswer = [...asked.open].some(({ headersSent }) => headersSent);
      if (hasAnswer || nowMs() - asked.atMs >= WITH_REQUEST_MS) socket.end();
      else if (asked.open.size > 0) lookAfter(socket, asked.open, lookMs);
    });
  };
  server.prependListener('connect', ({ socket }: IncomingMessage) => {
    const asked = connections.get(socket);
    if (asked) asked.isTunnel = true;
  });
  // Before what answers at once.
  server.prependListener('request', note);
  server.prependListener('checkExpectation', note);
}

/**
 * Finds out whether the client of a connection that is read no more is there: the kernel of one that has
 * closed refuses what it gets, and who writes next is told. An interim answer is the first it gets, where it
 * knows of those; after that nothing has to be written to be told.
 */
function lookAfter(socket: Duplex, open: ReadonlySet<ServerResponse>, lookMs: number): void {
  let hasGot = false;
  const timer = setInterval(() => {
    if (!socket.writable) return;
    const [next] = open;
    if (next && !hasGot && !next.headersSent && next.req.httpVersionMinor > 0) next.writeContinue();
    else socket.write(NOTHING);
    hasGot = true;
  }, lookMs);
  socket.once('close', () => clearInterval(timer));
}
