import type { ClientRequest, IncomingMessage } from 'node:http';

/**
 * The head of the answer to a request. Rejects in every other case, also where Node tells of no error: when the server
 * switches protocols, which nobody has asked for, and when the connection goes without an answer.
 */
export function awaitAnswer(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('it switches protocols'));
    });
    outgoing.once('close', () => reject(new Error('it closed without an answer')));
  });
}
