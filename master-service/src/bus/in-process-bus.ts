import { ok, type Result, refuse } from '@longhaul/shared';
import type { BusStatus, StateBus } from './state-bus.ts';

/** Where the buses of one process meet. */
export type InProcessMeeting = Set<InProcessBus>;

/** The bus of a master that is alone, or shares its process with others; nothing has to be installed for it. */
export class InProcessBus implements StateBus {
  readonly name: string;
  readonly #meeting: InProcessMeeting;
  #take: (text: string, from: string) => void = () => {};
  #reply: ((text: string, from: string) => Iterable<string>) | undefined;

  constructor(name: string, meeting: InProcessMeeting = new Set()) {
    this.name = name;
    this.#meeting = meeting;
    meeting.add(this);
  }

  publish(text: string): void {
    for (const other of this.#others()) queueMicrotask(() => other.#hear(text, this.name));
  }

  subscribe(take: (text: string, from: string) => void): void {
    this.#take = take;
  }

  async request(text: string, take: (part: string, from: string) => void): Promise<Result<void>> {
    const others = this.#others().filter((other) => other.#reply);
    const other = others[Math.floor(Math.random() * others.length)];
    const parts = other?.reply(text, this.name);
    if (!parts) return refuse('bus-no-answer');
    for (const part of parts) {
      await new Promise((resolve) => setImmediate(resolve));
      const isThere = other && this.#meeting.has(this) && this.#meeting.has(other);
      if (!isThere) return refuse('bus-no-answer');
      take(part, other.name);
    }
    return ok(undefined);
  }

  answer(reply: (text: string, from: string) => Iterable<string>): void {
    this.#reply = reply;
  }

  /** What this one answers; `undefined` where it does not. */
  reply(text: string, from: string): Iterable<string> | undefined {
    return this.#reply?.(text, from);
  }

  onReached(): void {
    // Whoever shares the process is never away.
  }

  status(): BusStatus {
    return { kind: 'in-process', isAlone: this.#others().length === 0, isConnected: true };
  }

  async close(): Promise<void> {
    this.#meeting.delete(this);
  }

  #others(): InProcessBus[] {
    return this.#meeting.has(this) ? [...this.#meeting].filter((other) => other !== this) : [];
  }

  #hear(text: string, from: string): void {
    if (this.#meeting.has(this)) this.#take(text, from);
  }
}
