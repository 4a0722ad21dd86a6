import { type Duplex, PassThrough } from 'node:stream';
import type { KnownPrefix } from '../digests/running-digest.ts';
import type { TakenBody } from '../origin/exchange.ts';
import type { OriginAnswer } from '../origin/origin-connection.ts';
import type { BodyEnd, BodyOptions, BodyOutcome, ChoosingRelay } from '../relay/relay-plane.ts';
import { endConnection, resetConnection } from '../sockets/reset.ts';
import type { ClientBody } from './client-body.ts';

export interface SendOptions {
  readonly relay: ChoosingRelay;
  /** Stops it; the client gets nothing more. */
  readonly signal: AbortSignal;
  /** Silence of the origin, while the client wants bytes, after which it counts as broken. */
  readonly silenceMs: number;
  readonly stallMs: number;
  /**
   * Length of the body where it is known, whatever frames it: chunks can be more or less than `Content-Range` says, and
   * a body that ends with its connection less.
   */
  readonly sizeBytes?: number | undefined;
  /** What comes again before the client's next byte. */
  readonly prefix?: KnownPrefix | undefined;
  /** Told of bytes that came again. */
  readonly onAgain?: (bytes: number) => void;
}

/** How the sending of one answer ended. `other-bytes`: it does not begin with what the client has. */
export type PartEnd = BodyEnd | 'other-bytes';

/**
 * Sends the body of one answer on: a long one by the kernel where that is possible, all others through this process. The
 * connection to the origin is used up afterwards; the client's is not touched beyond what has come, so that another answer
 * may go on where this one ended. An answer that brings again what the client has is read from its first byte. Never rejects.
 */
export async function sendPart(
  { connection }: Pick<OriginAnswer, 'connection'>,
  client: ClientBody,
  options: SendOptions,
): Promise<PartEnd> {
  const { socket } = client;
  const mayBypass = client.mayBypass && options.prefix === undefined;
  const taken = await connection.takeBody(
    (below, sizeBytes) =>
      socket !== undefined && mayBypass && options.relay.splices(below, socket, sizeBytes),
  );
  const end = taken ? await relayBody(taken, client, options) : await pumpBody(connection, client, options);
  // A client may close with the last byte, and a depot that gives up closes by itself: neither has left its download.
  return client.left.aborted && end !== 'complete' && !options.signal.aborted ? 'sink-broke' : end;
}

/** Sends a body past HTTP: the message of the client's side stays open until all of it has come. */
async function relayBody(
  { prefix, source, restBytes }: TakenBody,
  client: ClientBody,
  { relay, signal, silenceMs, stallMs }: SendOptions,
): Promise<BodyEnd> {
  // Nothing of the body may have come with its head, which then is still in HTTP's hands.
  if (prefix.length > 0) client.write(prefix);
  if (restBytes > 0) client.sendAll();
  const sink = client.socket;
  if (!sink) {
    resetConnection(source);
    return 'sink-broke';
  }
  const limits = { signal: AbortSignal.any([signal, client.left]), silenceMs, stallMs };
  const passing = Math.min(client.heldBackBytes, restBytes);
  const relayed = await relay.body(source, sink, {
    ...limits,
    sizeBytes: restBytes - passing,
    onBytes: (bytes) => client.skip(bytes),
    watcher: client.watcher,
  });
  const { outcome } =
    relayed.outcome === 'complete' && passing > 0
      ? await passLast(relay, source, client, { ...limits, sizeBytes: passing })
      : relayed;
  // One exchange is all that the connection was opened for.
  if (outcome === 'complete') endConnection(source);
  else resetConnection(source);
  return outcome;
}

/** Hands the last bytes of a body to the client through this thread, which may hold them back. */
async function passLast(
  relay: ChoosingRelay,
  source: Duplex,
  client: ClientBody,
  options: BodyOptions,
): Promise<BodyOutcome> {
  const last = new PassThrough();
  const end = await relay.body(source, last, options);
  const bytes: Buffer | null = last.read();
  if (bytes) client.write(bytes);
  return end;
}

/** Sends a body through this process. */
async function pumpBody(
  connection: OriginAnswer['connection'],
  client: ClientBody,
  { signal, silenceMs, sizeBytes, prefix, onAgain }: SendOptions,
): Promise<PartEnd> {
  const stopped = Promise.withResolvers<PartEnd>();
  let isStopped = false;
  /** Nothing of what is still on its way through this process goes on. */
  const stopBy = (end: PartEnd) => {
    isStopped = true;
    stopped.resolve(end);
  };
  const onAbort = () => stopBy('cancelled');
  const onLeft = () => stopBy('sink-broke');
  signal.addEventListener('abort', onAbort);
  client.left.addEventListener('abort', onLeft);
  if (client.left.aborted) onLeft();
  else if (signal.aborted) onAbort();
  let isWaiting = false;
  const waitForClient = async () => {
    // What HTTP had in its hands when it was paused still comes.
    if (isWaiting) return;
    isWaiting = true;
    connection.pause();
    const state = await client.roomy(signal);
    isWaiting = false;
    if (state === 'ready') connection.resume();
    else if (state === 'stalled') stopBy('sink-stalled');
  };
  const newBytes = (chunk: Buffer) => {
    if (!prefix || prefix.restBytes === 0) return chunk;
    const fresh = prefix.take(chunk);
    onAgain?.(chunk.length - (fresh?.length ?? 0));
    if (!fresh) stopBy('other-bytes');
    return fresh;
  };
  const read = connection.read({
    sizeBytes,
    silenceMs,
    onChunk: (chunk) => {
      const fresh = isStopped ? undefined : newBytes(chunk);
      if (fresh && fresh.length > 0 && !client.write(fresh)) void waitForClient();
    },
  });
  const end = await Promise.race([stopped.promise, read]);
  isStopped = true;
  signal.removeEventListener('abort', onAbort);
  client.left.removeEventListener('abort', onLeft);
  connection.close();
  if (end === 'complete' && prefix && prefix.restBytes > 0) return 'other-bytes';
  return end === 'too-long' ? 'source-broke' : end;
}
