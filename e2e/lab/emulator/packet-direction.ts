import { type DirectionSettings, FRAME_OVERHEAD_BYTES, type QueueLimit } from './link-settings.ts';
import { LossProcess } from './loss-process.ts';
import { MAX_PACKET_BYTES, PacketRing } from './packet-ring.ts';
import { RandomStream } from './random-stream.ts';

/** Memory for packets under way, per direction: 0.5 s of 1 Gbit/s. Settings that need more are refused. */
export const MEMORY_BYTES = 64 * 2 ** 20;
/**
 * Memory of a direction whose rate knows no limit: nothing tells how much will be under way. What finds it
 * full counts as dropped by the queue.
 */
const UNLIMITED_RATE_MEMORY_BYTES = 16 * 2 ** 20;
/** Beyond rate times delay plus queue, for packets that wait for the next turn and for gaps where the memory wraps. */
const SPARE_MEMORY_BYTES = 64 * MAX_PACKET_BYTES;

/** What became of the packets of one direction. In = out + lost + dropped + cut + undelivered + waiting. */
export interface DirectionCounters {
  readonly packetsIn: number;
  readonly bytesIn: number;
  readonly packetsOut: number;
  readonly bytesOut: number;
  /** By the loss model. */
  readonly lostPackets: number;
  /** Found the queue full. */
  readonly queueDroppedPackets: number;
  /** Met a cut link, or were under way when it was cut. */
  readonly cutPackets: number;
  /** Refused by the device at the far end, for instance because it was not up. */
  readonly undeliveredPackets: number;
  /** Under way now. */
  readonly waitingPackets: number;
  /** How much later than due a packet left at worst, since the last `takeLateness`. */
  readonly worstLatenessMs: number;
}

/**
 * One direction of a link, without its devices: a packet that arrives is lost, or waits for a virtual transmitter, then
 * travels, and is handed out when due. It never overtakes another. Times are milliseconds of any monotone clock and
 * passed in; the packets' bytes lie elsewhere, at the offsets that `place` gives.
 */
export class PacketDirection {
  #settings: DirectionSettings;
  readonly #name: string;
  readonly #loss: LossProcess;
  readonly #ring: PacketRing;
  #random: RandomStream;
  /** When the transmitter has sent all it has accepted. */
  #busyUntilMs = 0;
  /** Due time of the packet that came last, which later ones never precede. */
  #lastDueMs = 0;
  /** So many packets at the front of the ring have left the transmitter. */
  #departed = 0;
  #packetsIn = 0;
  #bytesIn = 0;
  #packetsOut = 0;
  #bytesOut = 0;
  #lost = 0;
  #queueDropped = 0;
  #cut = 0;
  #undelivered = 0;
  #worstLatenessMs = 0;

  /** `name` makes the random stream its own, together with the seed. */
  constructor(name: string, settings: DirectionSettings, seed: number, memoryBytes = MEMORY_BYTES) {
    this.#name = name;
    this.#settings = settings;
    this.#loss = new LossProcess(settings.loss);
    this.#random = new RandomStream(`${seed}/${name}`);
    this.#ring = new PacketRing(memoryBytes, wantedMemory(settings));
  }

  get waitingPackets(): number {
    return this.#ring.count;
  }

  /** When the next packet is to be handed out; Infinity when none waits. */
  get nextDueMs(): number {
    return this.#ring.count === 0 ? Number.POSITIVE_INFINITY : this.#ring.dueAt(0);
  }

  /** Where the next packet to be handed out lies, and how long it is. */
  get nextOffset(): number {
    return this.#ring.offsetAt(0);
  }

  get nextSizeBytes(): number {
    return this.#ring.sizeAt(0);
  }

  /** Where the bytes of the next packet to arrive belong; -1 when there is no room, then it is offered all the same. */
  place(): number {
    return this.#ring.place();
  }

  /** A packet arrived; its bytes are at `offset`, which `place` gave. Whether it is under way now. */
  offer(nowMs: number, offset: number, sizeBytes: number): boolean {
    // Three draws for each packet, whatever becomes of it: the losses of one seed do not depend on timing.
    const isLost = this.#loss.losesNext(this.#random.next(), this.#random.next());
    const jitterDraw = this.#random.next();
    this.#packetsIn += 1;
    this.#bytesIn += sizeBytes;
    const { rateBps, delayMs, jitterMs, queue, isCut } = this.#settings;
    if (isCut) {
      this.#cut += 1;
      return false;
    }
    if (isLost) {
      this.#lost += 1;
      return false;
    }
    const frameBytes = sizeBytes + FRAME_OVERHEAD_BYTES;
    if (offset < 0 || !this.#hasRoom(nowMs, frameBytes, rateBps, queue)) {
      this.#queueDropped += 1;
      return false;
    }
    this.#busyUntilMs = Math.max(nowMs, this.#busyUntilMs) + (frameBytes * 8000) / rateBps;
    const travelMs = delayMs + jitterMs * jitterDraw;
    this.#lastDueMs = Math.max(this.#lastDueMs, this.#busyUntilMs + travelMs);
    this.#ring.push(offset, sizeBytes, this.#busyUntilMs, travelMs, this.#lastDueMs);
    return true;
  }

  /** The next packet was handed out, or refused by the device. */
  handedOut(nowMs: number, isDelivered: boolean): void {
    const latenessMs = nowMs - this.#ring.dueAt(0);
    if (latenessMs > this.#worstLatenessMs) this.#worstLatenessMs = latenessMs;
    if (isDelivered) {
      this.#packetsOut += 1;
      this.#bytesOut += this.#ring.sizeAt(0);
    } else {
      this.#undelivered += 1;
    }
    this.#ring.shift();
    if (this.#departed > 0) this.#departed -= 1;
  }

  /** Takes effect for all packets that have not left the transmitter; those on the line keep the delay they have. */
  change(nowMs: number, change: Partial<DirectionSettings>): void {
    const before = this.#settings;
    this.#settings = { ...before, ...change };
    this.#loss.change(this.#settings.loss);
    if (this.#settings.isCut) this.#loseAll();
    if (this.#settings.rateBps !== before.rateBps) this.#changeRate(nowMs, before.rateBps);
    this.#ring.setLimit(wantedMemory(this.#settings));
  }

  /** Starts the random stream and the loss model anew; packets under way go on. */
  reseed(seed: number): void {
    this.#random = new RandomStream(`${seed}/${this.#name}`);
    this.#loss.startAnew();
  }

  /** The worst lateness so far, in milliseconds, and starts anew. */
  takeLateness(): number {
    const worstLatenessMs = this.#worstLatenessMs;
    this.#worstLatenessMs = 0;
    return worstLatenessMs;
  }

  counters(): DirectionCounters {
    return {
      packetsIn: this.#packetsIn,
      bytesIn: this.#bytesIn,
      packetsOut: this.#packetsOut,
      bytesOut: this.#bytesOut,
      lostPackets: this.#lost,
      queueDroppedPackets: this.#queueDropped,
      cutPackets: this.#cut,
      undeliveredPackets: this.#undelivered,
      waitingPackets: this.#ring.count,
      worstLatenessMs: this.#worstLatenessMs,
    };
  }

  /** An idle transmitter takes any packet; else what is being sent counts as part of the queue. */
  #hasRoom(nowMs: number, frameBytes: number, rateBps: number, queue: QueueLimit): boolean {
    if (this.#busyUntilMs <= nowMs) return true;
    if ('bytes' in queue) {
      return ((this.#busyUntilMs - nowMs) * rateBps) / 8000 + frameBytes <= queue.bytes;
    }
    this.#countDeparted(nowMs);
    return this.#ring.count - this.#departed + 1 <= queue.packets;
  }

  #countDeparted(nowMs: number): void {
    while (this.#departed < this.#ring.count && this.#ring.departureAt(this.#departed) <= nowMs) {
      this.#departed += 1;
    }
  }

  /** What has not left the transmitter leaves it at the new rate. */
  #changeRate(nowMs: number, oldRateBps: number): void {
    this.#countDeparted(nowMs);
    const stretch = oldRateBps === Number.POSITIVE_INFINITY ? 1 : oldRateBps / this.#settings.rateBps;
    let dueMs = this.#departed === 0 ? 0 : this.#ring.dueAt(this.#departed - 1);
    for (let position = this.#departed; position < this.#ring.count; position += 1) {
      const departureMs = nowMs + (this.#ring.departureAt(position) - nowMs) * stretch;
      dueMs = Math.max(dueMs, departureMs + this.#ring.travelAt(position));
      this.#ring.setTimes(position, departureMs, dueMs);
    }
    if (this.#busyUntilMs > nowMs) this.#busyUntilMs = nowMs + (this.#busyUntilMs - nowMs) * stretch;
    if (this.#ring.count > 0) this.#lastDueMs = this.#ring.dueAt(this.#ring.count - 1);
  }

  #loseAll(): void {
    this.#cut += this.#ring.count;
    this.#ring.clear();
    this.#departed = 0;
    this.#busyUntilMs = 0;
    this.#lastDueMs = 0;
  }
}

/** Packets of a queue counted in packets are taken for full ones of Ethernet. */
const FULL_FRAME_BYTES = 1514;

/** Bytes that a direction may have under way: what is on the line, and the queue. */
export function wantedMemory(settings: DirectionSettings): number {
  if (settings.rateBps === Number.POSITIVE_INFINITY) return UNLIMITED_RATE_MEMORY_BYTES;
  const onTheLine = (settings.rateBps * (settings.delayMs + settings.jitterMs)) / 8000;
  const queued = 'bytes' in settings.queue ? settings.queue.bytes : settings.queue.packets * FULL_FRAME_BYTES;
  return onTheLine + queued + SPARE_MEMORY_BYTES;
}
