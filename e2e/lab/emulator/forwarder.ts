import type { Kernel } from './kernel.ts';
import { MEMORY_BYTES, type PacketDirection } from './packet-direction.ts';
import { MAX_PACKET_BYTES } from './packet-ring.ts';

/** So many packets are read or written for one direction before the next one has its turn. */
const PACKETS_PER_TURN = 64;
/**
 * First half byte of an IPv4 packet. Others are the kernel's own (IPv6 neighbours and routers): the lab has
 * no use for them.
 */
const IP_VERSION_4 = 4;

/** Moves the packets of one direction between two TUN devices. */
export class Forwarder {
  readonly direction: PacketDirection;
  readonly #kernel: Kernel;
  readonly #from: number;
  readonly #to: number;
  readonly #memory = new ArrayBuffer(MEMORY_BYTES + MAX_PACKET_BYTES);
  readonly #bytes = new Uint8Array(this.#memory);
  readonly #address: number;

  constructor(kernel: Kernel, direction: PacketDirection, from: number, to: number) {
    this.direction = direction;
    this.#kernel = kernel;
    this.#from = from;
    this.#to = to;
    this.#address = kernel.addressOf(this.#memory);
  }

  /** Takes what has arrived. How many packets that were. */
  takeIn(nowMs: number): number {
    for (let taken = 0; taken < PACKETS_PER_TURN; taken += 1) {
      const place = this.direction.place();
      const offset = place < 0 ? MEMORY_BYTES : place;
      const sizeBytes = this.#kernel.read(this.#from, this.#address + offset, MAX_PACKET_BYTES);
      if (sizeBytes <= 0) return taken;
      if ((this.#bytes[offset] ?? 0) >> 4 === IP_VERSION_4) this.direction.offer(nowMs, place, sizeBytes);
    }
    return PACKETS_PER_TURN;
  }

  /** Hands out what is due. How many packets that were. */
  handOut(): number {
    const { direction } = this;
    for (let handed = 0; handed < PACKETS_PER_TURN; handed += 1) {
      const dueMs = direction.nextDueMs;
      // No need to look at the clock when nothing waits.
      if (dueMs === Number.POSITIVE_INFINITY) return handed;
      const nowMs = performance.now();
      if (dueMs > nowMs) return handed;
      const sizeBytes = direction.nextSizeBytes;
      const written = this.#kernel.write(this.#to, this.#address + direction.nextOffset, sizeBytes);
      direction.handedOut(nowMs, written === sizeBytes);
    }
    return PACKETS_PER_TURN;
  }
}
