/**
 * Loaded before a service (`node --import`): its parent may set the clock that the service reads, by a
 * message `{ aheadMs }`, and nobody else's. Its steady clock goes on, as when a machine's clock is set.
 */
import { ServerResponse } from 'node:http';

const TrueDate = Date;
let aheadMs = 0;

class SetDate extends TrueDate {
  constructor(...given: [] | ConstructorParameters<typeof TrueDate>) {
    if (given.length === 0) super(SetDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return TrueDate.now() + aheadMs;
  }
}

globalThis.Date = SetDate as typeof Date;
// Node dates answers by itself, by a clock that nobody else can set.
const { writeHead } = ServerResponse.prototype as { writeHead: (...given: unknown[]) => ServerResponse };
Object.assign(ServerResponse.prototype, {
  writeHead(this: ServerResponse, ...given: unknown[]) {
    if (!this.headersSent) this.setHeader('Date', new Date().toUTCString());
    return writeHead.apply(this, given);
  },
});
process.on('message', (message: { readonly aheadMs: number }) => {
  ({ aheadMs } = message);
});
