import type { IncomingMessage, ServerResponse } from 'node:http';
import { resetConnection } from '../sockets/reset.ts';

/** Answers without a download are small: whoever leaves one unread for so long has gone. */
const UNREAD_TIMEOUT_MS = 30_000;

/**
 * Resets a connection whose answer has been ended and does not get as far as the kernel for so long: nobody
 * reads it. Downloads, whose clients may rest, are bounded by their own (`timeouts.stallSeconds`), and so is
 * what is asked behind one: its last bytes may not have been read.
 */
export function limitUnread(
  { socket }: IncomingMessage,
  response: ServerResponse,
  timeoutMs = UNREAD_TIMEOUT_MS,
): void {
  if (!response.writableEnded || response.writableFinished || response.closed) return;
  const timer = setTimeout(() => resetConnection(socket), timeoutMs);
  response.once('close', () => clearTimeout(timer));
}
