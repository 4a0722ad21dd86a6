import type { IncomingMessage, ServerResponse } from 'node:http';
import { HEADERS } from '@longhaul/shared';
import type { BodyEnd, Relay } from '../relay/relay-plane.ts';
import { resetConnection } from '../sockets/reset.ts';
import { dispositionFor } from './download-name.ts';
import { headersToClient, SAFETY_HEADERS } from './headers.ts';
import type { TakenBody } from './origin-exchange.ts';
import type { FetchedAnswer } from './origin-fetch.ts';

export interface SendOptions {
  readonly depotId: string;
  readonly jobId: string;
  /** Silence of the origin, while the client wants bytes, after which the transfer counts as broken. */
  readonly silenceMs: number;
  /** How long the client may leave bytes unread. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  readonly relay: Relay;
  readonly onBytes: (bytes: number) => void;
}

export type SendOutcome = 'complete' | 'upstream-broke' | 'client-left';

/**
 * Sends the origin's answer on: long bodies by the relay, all others through HTTP. A body that breaks off resets the
 * client's connection: it never looks complete.
 */
export async function sendAnswer(
  fetched: FetchedAnswer,
  response: ServerResponse,
  options: SendOptions,
): Promise<SendOutcome> {
  const body = await fetched.takeBody();
  response.writeHead(fetched.answer.statusCode ?? 502, answerHeaders(fetched, options).flat());
  return body ? relayBody(body, response, options) : pump(fetched.answer, response, options);
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
  { relay, signal, silenceMs, stallMs, onBytes }: SendOptions,
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

function answerHeaders({ answer, url }: FetchedAnswer, options: SendOptions): [string, string][] {
  const status = answer.statusCode ?? 502;
  const isError = status >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text.
  const passed = headersToClient(answer.rawHeaders).filter(
    ([name]) => !isError || !/^content-type$/i.test(name),
  );
  const own: [string, string][] = [
    ...Object.entries(SAFETY_HEADERS),
    [HEADERS.depot, options.depotId],
    [HEADERS.job, options.jobId],
  ];
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(answer.headers['content-disposition'], url)]);
  return [...passed, ...own];
}

function pump(answer: IncomingMessage, response: ServerResponse, options: SendOptions): Promise<SendOutcome> {
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
