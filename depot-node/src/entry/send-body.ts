import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyEnd, ChoosingRelay } from '../relay/relay-plane.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { TakenBody } from './origin-exchange.ts';

export interface SendBodyOptions {
  /** Silence of the upstream end, while the client wants bytes, after which the transfer counts as broken. */
  readonly silenceMs: number;
  /** How long the client may leave bytes unread. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  readonly relay: ChoosingRelay;
  readonly onBytes: (bytes: number) => void;
}

export type SendOutcome = 'complete' | 'upstream-broke' | 'client-left';

/**
 * Sends a body behind a head that is written already: by the relay what was taken from HTTP, through HTTP all else. A
 * body that breaks off resets the receiver's connection: it never looks complete.
 */
export function sendBody(
  answer: IncomingMessage,
  taken: TakenBody | undefined,
  response: ServerResponse,
  options: SendBodyOptions,
): Promise<SendOutcome> {
  return taken ? relayBody(taken, response, options) : pump(answer, response, options);
}

const RELAY_OUTCOMES: Readonly<Record<BodyEnd, SendOutcome>> = {
  complete: 'complete',
  'source-ended': 'upstream-broke',
  'source-broke': 'upstream-broke',
  'source-silent': 'upstream-broke',
  'sink-broke': 'client-left',
  'sink-stalled': 'client-left',
  cancelled: 'upstream-broke',
};

/** Sends a body past HTTP, whose message is then complete: the client's connection may carry further requests. */
async function relayBody(
  { prefix, source, restBytes }: TakenBody,
  response: ServerResponse,
  { relay, signal, silenceMs, stallMs, onBytes }: SendBodyOptions,
): Promise<SendOutcome> {
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once('close', onClose);
  const sink = response.socket;
  response.write(prefix);
  onBytes(prefix.length);
  const { outcome } = sink
    ? await relay.body(source, sink, {
        sizeBytes: restBytes,
        signal: AbortSignal.any([signal, left.signal]),
        silenceMs,
        stallMs,
        onBytes,
      })
    : { outcome: 'sink-broke' as const };
  response.off('close', onClose);
  if (outcome === 'complete') {
    // One exchange is all the way was opened for.
    source.end(() => source.destroy());
    await new Promise<void>((resolve) => response.once('close', resolve).end(resolve));
    return 'complete';
  }
  // A reset frees the chain at once; a mere end would leave it open until the origin has more to send.
  resetConnection(source);
  if (sink) resetConnection(sink);
  response.destroy();
  return left.signal.aborted ? 'client-left' : RELAY_OUTCOMES[outcome];
}

function pump(
  answer: IncomingMessage,
  response: ServerResponse,
  options: SendBodyOptions,
): Promise<SendOutcome> {
  return new Promise((resolve) => {
    let settled = false;
    const settle = (outcome: SendOutcome) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onBroken);
      if (outcome !== 'complete') {
        // A reset frees the chain at once; a mere end would leave it open until the origin has more to send.
        resetConnection(answer.socket);
        // A connection that the client has left is gone already.
        if (response.socket) resetConnection(response.socket);
        response.destroy();
      }
      resolve(outcome);
    };
    const onBroken = () => settle('upstream-broke');
    let timer = setTimeout(onBroken, options.silenceMs);
    const waitForOrigin = () => {
      clearTimeout(timer);
      timer = setTimeout(onBroken, options.silenceMs);
    };
    const waitForClient = () => {
      clearTimeout(timer);
      timer = setTimeout(() => settle('client-left'), options.stallMs);
    };

    options.signal.addEventListener('abort', onBroken);
    response.once('close', () => settle(response.writableFinished ? 'complete' : 'client-left'));
    response.on('drain', () => {
      waitForOrigin();
      answer.resume();
    });
    answer.on('data', (chunk: Buffer) => {
      options.onBytes(chunk.length);
      if (response.write(chunk)) {
        timer.refresh();
        return;
      }
      answer.pause();
      waitForClient();
    });
    answer.once('end', () => {
      // Node ends a message cut before its declared end with an error, so an end here is the body's own.
      waitForClient();
      response.end();
    });
    answer.once('error', onBroken);
    answer.once('close', () => {
      if (!answer.readableEnded) onBroken();
    });
    // What broke before anybody listened makes no event any more.
    if (options.signal.aborted || answer.destroyed) onBroken();
  });
}
