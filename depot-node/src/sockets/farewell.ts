import type { Duplex } from 'node:stream';

/** A peer that does not close its side by then is cut off. */
const FAREWELL_TIMEOUT_MS = 1000;

/** Sends the last words on a connection and closes it, also when the peer keeps its own side open. */
export function sayFarewell(socket: Duplex, text: string): void {
  const timer = setTimeout(() => socket.destroy(), FAREWELL_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.on('error', () => socket.destroy());
  // What is still coming in is read and dropped: closing over unread bytes would reset the answer away.
  socket.resume();
  socket.end(text);
}
