import { api } from '../browser/browser-api.ts';
import type { Message, MessageMap, MessageName } from './message-map.ts';

type Reply<N extends MessageName> =
  | { readonly ok: true; readonly answer: MessageMap[N]['answer'] }
  | { readonly ok: false; readonly error: string };

/** Asks the background. Rejects when it failed. */
export async function sendMessage<N extends MessageName>(
  name: N,
  ask: MessageMap[N]['ask'],
): Promise<MessageMap[N]['answer']> {
  const message: Message<N> = { name, ask };
  const reply = await api.runtime.sendMessage<Message<N>, Reply<N>>(message);
  if (!reply.ok) throw new Error(reply.error);
  return reply.answer;
}
