import type { ServerResponse } from 'node:http';

/** Watches whether a client leaves before its answer has begun; `stop` when somebody else watches. */
export function watchLeaving(response: ServerResponse): {
  readonly left: AbortSignal;
  readonly stop: () => void;
} {
  const leaving = new AbortController();
  const onClose = () => leaving.abort();
  response.once('close', onClose);
  // It may have left while its ticket was checked.
  if (response.destroyed || response.socket?.destroyed === true) onClose();
  return { left: leaving.signal, stop: () => response.off('close', onClose) };
}
