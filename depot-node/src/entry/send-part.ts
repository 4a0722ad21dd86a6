import type { IncomingMessage } from 'node:http';
import type { BodyEnd, ChoosingRelay } from '../relay/relay-plane.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { ClientBody } from './client-body.ts';
import type { OriginAnswer, TakenBody } from './origin-exchange.ts';

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
}

/**
 * Sends the body of one answer on: a long one by the kernel where that is possible, all others through this process.
 * The answer's way is used up afterwards; the client's is not touched beyond what has come, so that another answer may
 * go on where this one ended. Never rejects.
 */
export async function sendPart(
  answer: OriginAnswer,
  client: ClientBody,
  options: SendOptions,
): Promise<BodyEnd> {
  const { socket } = client;
  const body = await answer.takeBody(
    (way, sizeBytes) =>
      socket !== undefined && !client.mustPass && options.relay.splices(way, socket, sizeBytes),
  );
  const end =
    body && socket ? await relayBody(body, client, options) : await pumpBody(answer.answer, client, options);
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
  else client.sendHead();
  const sink = client.socket;
  if (!sink) return 'sink-broke';
  const { outcome } = await relay.body(source, sink, {
    sizeBytes: restBytes,
    signal: AbortSignal.any([signal, client.left]),
    silenceMs,
    stallMs,
    onBytes: (bytes) => client.skip(bytes),
  });
  // One exchange is all the way was opened for. A reset frees the chain at once; a mere end would leave it open until
  // the origin has more to send.
  if (outcome === 'complete') source.end(() => source.destroy());
  else resetConnection(source);
  return outcome;
}

/** Sends a body through this process. */
function pumpBody(
  answer: IncomingMessage,
  client: ClientBody,
  { signal, silenceMs, sizeBytes }: SendOptions,
): Promise<BodyEnd> {
  return new Promise((resolve) => {
    let isSettled = false;
    let comeBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    const settle = (end: BodyEnd) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      client.left.removeEventListener('abort', onLeft);
      answer.off('data', onData).off('end', onEnd).off('close', onClose);
      if (end !== 'complete') resetConnection(answer.socket);
      resolve(end);
    };
    const onAbort = () => settle('cancelled');
    const onLeft = () => settle('sink-broke');
    const onBroken = () => settle('source-broke');
    const onSilent = () => settle('source-silent');
    const waitForClient = async () => {
      clearTimeout(timer);
      answer.pause();
      const state = await client.roomy(signal);
      if (isSettled) return;
      if (state === 'left' || state === 'stalled')
        return settle(state === 'left' ? 'sink-broke' : 'sink-stalled');
      timer = setTimeout(onSilent, silenceMs);
      answer.resume();
    };
    const onData = (chunk: Buffer) => {
      comeBytes += chunk.length;
      if (sizeBytes !== undefined && comeBytes > sizeBytes) onBroken();
      else if (client.write(chunk)) timer?.refresh();
      else void waitForClient();
    };
    // Node ends a message cut before its declared end with an error, so an end here is the body's own.
    const onEnd = () => settle(comeBytes < (sizeBytes ?? 0) ? 'source-ended' : 'complete');
    const onClose = () => {
      if (!answer.readableEnded) onBroken();
    };
    // Stays for good: what breaks later is nobody's concern, but must not bring the process down.
    answer.on('error', onBroken);
    answer.once('end', onEnd).once('close', onClose);
    signal.addEventListener('abort', onAbort);
    client.left.addEventListener('abort', onLeft);
    timer = setTimeout(onSilent, silenceMs);
    answer.on('data', onData);
    // What happened before anybody listened makes no event any more.
    if (client.left.aborted) onLeft();
    else if (signal.aborted) onAbort();
    else if (answer.destroyed && !answer.readableEnded) onBroken();
  });
}
