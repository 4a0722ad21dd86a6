import { OriginStream } from '../entry/origin-stream.ts';

/** A lane's way to the origin, as an HTTP agent reuses it from block to block. */
export class LaneStream extends OriginStream {
  /** An agent marks a socket that it uses again as one that keeps the process alive; a stream has no such mark. */
  ref(): this {
    return this;
  }
}
