import { constants } from 'node:os';
import { SMALLEST_BUFFER_BYTES } from '../kernel/libc.ts';
import { MOST_HEAD_BYTES } from './answer-reader.ts';
import type { PooledBuffer } from './buffer-pool.ts';
import type { End } from './end.ts';
import type { Turn } from './flow.ts';
import type { MergeComponents, MergeFlow, MergeLane } from './merge-flow.ts';
import { roomIn } from './merge-pieces.ts';
import type { AnswersCommand, FlowEnd, MergeEvent } from './thread-message.ts';

const { EAGAIN, EINTR } = constants.errno;
const HEAD_END = Buffer.from('\r\n\r\n');

/** A head is read in steps of this size, so that little of the body behind it comes along. */
const HEAD_STEP_BYTES = 2048;

type State = 'head' | 'body' | 'told';

/**
 * A connection over which answers come one after the other, whose bodies are parts of a merge's file. A head
 * goes to the main thread, which says where its body belongs.
 */
export class AnswersFlow implements MergeLane {
  readonly id: number;
  readonly source: End;
  readonly ends: readonly [End];
  readonly wantsProgress = false;
  queued = false;
  reportedBytes = 0;
  /** Where the next byte of the body belongs. */
  atByte = 0;
  /** What has not come of it. */
  restBytes = 0;
  /** Whether it waits until its bytes are next, and are taken. */
  waitsForTurn = false;
  /** Whether it waits until its merge may hold more. */
  waitsForRoom = false;
  readonly merge: MergeFlow;
  readonly #components: MergeComponents;
  /** `told`: a head has gone to the main thread. */
  #state: State;
  #isResting = false;
  #end: FlowEnd | undefined;
  /** What has been read and not used, at most a head and what came with it. */
  #memory: PooledBuffer | undefined;
  #from = 0;
  #to = 0;
  #untoldBytes = 0;
  #heldUpSinceMs: number | undefined;
  #heldUpMs = 0;
  #wasHeldUp = false;
  /** When it was told of last. */
  #toldMs = 0;

  constructor(command: AnswersCommand, merge: MergeFlow, components: MergeComponents) {
    this.id = command.id;
    this.merge = merge;
    this.#components = components;
    this.source = components.makeEnd(command.source, 'source');
    this.ends = [this.source];
    this.#state = command.isAtHead ? 'head' : 'told';
    if (command.head.length > 0) this.#hold(command.head);
    merge.answers.add(this);
  }

  /** Whether the merge may take from its connection now. */
  get canGive(): boolean {
    return this.#isReadingBody && this.#to === this.#from && this.source.readable;
  }

  get hasUnused(): boolean {
    return this.#state === 'head' && this.#to > this.#from;
  }

  get #isReadingBody(): boolean {
    return this.#state === 'body' && !this.#isResting && this.#end === undefined;
  }

  turn(nowMs: number): Turn {
    this.waitsForTurn = false;
    this.waitsForRoom = false;
    if (this.#end) return { end: this.#end };
    if (this.#isResting || this.#state === 'told') return 'wait';
    return this.#state === 'head' ? this.#readHead(nowMs) : this.#readBody(nowMs);
  }

  readHead(): void {
    this.#state = 'head';
    this.#components.enqueue(this);
  }

  readBody(startByte: number, sizeBytes: number): void {
    this.#state = 'body';
    this.atByte = startByte;
    this.restBytes = sizeBytes;
    this.#components.enqueue(this);
  }

  rest(isResting: boolean): void {
    this.#isResting = isResting;
    if (!isResting) this.#components.enqueue(this);
  }

  /** The merge has taken bytes from the connection. */
  noteTaken(bytes: number, nowMs: number): void {
    this.#goOn(bytes, nowMs);
    if (this.restBytes === 0) this.#components.enqueue(this);
  }

  /** The merge has met its end, or has one itself. */
  noteEnd(end: FlowEnd): void {
    this.#end ??= end;
    this.#components.enqueue(this);
  }

  /** The one who gets the merge's bytes takes none: who is next cannot go on. Says whether that is new. */
  noteBlocked(nowMs: number): boolean {
    const isNew = this.#heldUpSinceMs === undefined && this.#isReadingBody && this.merge.isNext(this.atByte);
    if (isNew) this.#heldUpSinceMs = nowMs;
    return isNew;
  }

  /** The merge goes on: from now on whoever keeps this one waiting is its own sender. Says whether that is new. */
  noteFree(nowMs: number): boolean {
    const isNew = this.#heldUpSinceMs !== undefined;
    this.#countHeldUp(nowMs);
    return isNew;
  }

  /** Tells what is new. */
  report(nowMs: number): MergeEvent | undefined {
    const isHeldUp = this.#heldUpSinceMs !== undefined;
    if (this.#heldUpSinceMs !== undefined) {
      this.#heldUpMs += nowMs - this.#heldUpSinceMs;
      this.#heldUpSinceMs = nowMs;
    }
    const bytes = this.#untoldBytes;
    if (bytes === 0 && isHeldUp === this.#wasHeldUp) return undefined;
    // Whoever was told that it is held up has counted no time since.
    const heldUpMs = this.#heldUpMs - (this.#wasHeldUp ? nowMs - this.#toldMs : 0);
    this.#toldMs = nowMs;
    this.#untoldBytes = 0;
    this.#heldUpMs = 0;
    this.#wasHeldUp = isHeldUp;
    return { is: 'moved', id: this.id, bytes, heldUpMs, isHeldUp };
  }

  expired(): undefined {
    return undefined;
  }

  bytesUp(): number {
    return 0;
  }

  bytesDown(): number {
    return 0;
  }

  finish(): undefined {
    this.merge.answers.delete(this);
    return undefined;
  }

  #readHead(nowMs: number): Turn {
    for (;;) {
      const memory = this.#memory;
      if (memory && this.#to > this.#from) {
        const come = Buffer.from(memory.buffer, this.#from, this.#to - this.#from);
        const end = come.indexOf(HEAD_END);
        const sizeBytes = end < 0 ? come.length : end + HEAD_END.length;
        // One that is too long the main thread refuses when it sees this much.
        if (end >= 0 || come.length >= MOST_HEAD_BYTES) {
          this.#from += sizeBytes;
          this.#state = 'told';
          const bytes = new Uint8Array(come.subarray(0, sizeBytes));
          this.#components.tellAtOnce(this.merge, { is: 'head', id: this.id, bytes }, nowMs);
          return 'wait';
        }
      }
      if (!this.source.readable) return 'wait';
      const address = this.#makeRoom();
      const taken = this.source.read(address, HEAD_STEP_BYTES);
      if (taken > 0) this.#to += taken;
      else return taken === -EINTR ? 'again' : this.#stop(taken);
    }
  }

  #readBody(nowMs: number): Turn {
    if (this.#to > this.#from) this.#useHeld(nowMs);
    if (this.restBytes === 0) return this.#noteWhole(nowMs);
    const { runs } = this.merge;
    const knownBytes = runs.knownBytes(this.atByte);
    if (knownBytes === 0 && this.merge.isNext(this.atByte)) {
      this.waitsForTurn = true;
      this.#components.enqueue(this.merge);
      return 'wait';
    }
    if (!this.source.readable) return 'wait';
    const { roomBytes } = this.merge;
    if (knownBytes === 0 && roomBytes === 0) {
      this.waitsForRoom = true;
      this.#components.awaitRoom(this.merge);
      return 'wait';
    }
    const taken = knownBytes > 0 ? this.#readKnown(knownBytes) : this.#readAhead(roomBytes);
    if (taken === -EINTR) return 'again';
    if (taken <= 0) return this.#stop(taken);
    this.#goOn(taken, nowMs);
    return this.restBytes === 0 ? this.#noteWhole(nowMs) : 'again';
  }

  /** Reads what another connection has brought, and drops it. */
  #readKnown(knownBytes: number): number {
    const { buffers } = this.#components;
    const memory = buffers.take();
    const taken = this.source.read(
      memory.address,
      Math.min(knownBytes, this.restBytes, memory.buffer.byteLength),
    );
    buffers.give(memory);
    return taken;
  }

  /** Reads into memory what comes before its turn. */
  #readAhead(roomBytes: number): number {
    const { runs } = this.merge;
    const run = runs.runAt(this.atByte);
    const piece = this.#components.pieces.withRoom(run.store);
    const most = Math.min(this.restBytes, roomBytes, roomIn(piece), runs.missingBytes(this.atByte));
    const taken = this.source.read(piece.address + piece.end, most);
    if (taken > 0) {
      piece.end += taken;
      runs.grow(run, taken);
      this.merge.noteHeld();
      this.merge.wakeOthers();
    } else if (piece.end === 0) {
      run.store.pop();
      this.#components.pieces.give(piece);
      runs.dropIfEmpty(run);
    }
    return taken;
  }

  /** Uses what of the body came with its head. */
  #useHeld(nowMs: number): void {
    const bytes = Math.min(this.#to - this.#from, this.restBytes);
    this.merge.copyIn(this.atByte, (this.#memory?.address ?? 0) + this.#from, bytes);
    this.merge.noteHeld();
    this.#from += bytes;
    this.#goOn(bytes, nowMs);
    this.merge.wakeOthers();
    this.#components.enqueue(this.merge);
  }

  #goOn(bytes: number, nowMs: number): void {
    this.atByte += bytes;
    this.restBytes -= bytes;
    this.#untoldBytes += bytes;
    this.#countHeldUp(nowMs);
    this.merge.noteMoved(bytes);
  }

  #countHeldUp(nowMs: number): void {
    if (this.#heldUpSinceMs !== undefined) this.#heldUpMs += nowMs - this.#heldUpSinceMs;
    this.#heldUpSinceMs = undefined;
  }

  /** Goes on with the next head, so that both are told of in one message where it is there. */
  #noteWhole(nowMs: number): Turn {
    this.#state = 'head';
    this.#components.tellAtOnce(this.merge, { is: 'whole', id: this.id }, nowMs);
    return this.#readHead(nowMs);
  }

  #stop(taken: number): Turn {
    if (taken === -EAGAIN) {
      this.source.readable = false;
      return 'wait';
    }
    return { end: taken === 0 ? 'source-ended' : 'source-broke' };
  }

  /** Memory for one more step. */
  #makeRoom(): number {
    const heldBytes = this.#to - this.#from;
    const has = this.#memory?.buffer.byteLength ?? 0;
    if (!this.#memory || has - this.#to < HEAD_STEP_BYTES) {
      const held = this.#memory && new Uint8Array(this.#memory.buffer, this.#from, heldBytes);
      this.#memory = this.#make(heldBytes + HEAD_STEP_BYTES);
      if (held) new Uint8Array(this.#memory.buffer).set(held);
      this.#from = 0;
      this.#to = heldBytes;
    }
    return this.#memory.address + this.#to;
  }

  #hold(bytes: Uint8Array): void {
    this.#memory = this.#make(bytes.length);
    new Uint8Array(this.#memory.buffer).set(bytes);
    this.#to = bytes.length;
  }

  #make(sizeBytes: number): PooledBuffer {
    const buffer = new ArrayBuffer(Math.max(sizeBytes, SMALLEST_BUFFER_BYTES));
    return { buffer, address: this.#components.kernel.addressOf(buffer) };
  }
}
