import { api } from '../browser/browser-api.ts';
import type { Message, MessageHandlers, MessageName } from './message-map.ts';

/** What scripts in the pages of the web may send; a page that has taken its script over could send anything. */
const FROM_THE_WEB: ReadonlySet<MessageName> = new Set(['clicked']);

/**
 * Answers the messages of the add-on's own pages, and what its scripts in others tell. There is no
 * `externally_connectable`.
 */
export function answerMessages(handlers: MessageHandlers): void {
  api.runtime.onMessage.addListener((message: Message, { url: from = '' }, respond) => {
    if (!Object.hasOwn(handlers, message.name)) return false;
    if (!from.startsWith(api.runtime.getURL('')) && !FROM_THE_WEB.has(message.name)) return false;
    const handle = handlers[message.name] as (ask: Message['ask'], from: string) => Promise<unknown>;
    handle(message.ask, from).then(
      (answer) => respond({ ok: true, answer }),
      (error: unknown) => respond({ ok: false, error: String(error) }),
    );
    return true;
  });
}
