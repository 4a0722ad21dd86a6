import { api } from '../browser/browser-api.ts';
import type { Message, MessageHandlers } from './message-map.ts';

/** Answers the messages of the add-on's own pages. Only they can send any: there is no `externally_connectable`. */
export function answerMessages(handlers: MessageHandlers): void {
  api.runtime.onMessage.addListener((message: Message, _sender, respond) => {
    if (!Object.hasOwn(handlers, message.name)) return false;
    const handle = handlers[message.name] as (ask: Message['ask']) => Promise<unknown>;
    handle(message.ask).then(
      (answer) => respond({ ok: true, answer }),
      (error: unknown) => respond({ ok: false, error: String(error) }),
    );
    return true;
  });
}
