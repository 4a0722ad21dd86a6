import { LonghaulError, type MasterKey } from '@longhaul/shared';
import { parseJson, type StateFolder } from '@longhaul/shared/service';
import * as z from 'zod';
import { SIGNING_KEY_FILE } from './key-files.ts';
import { MOST_KEYS } from './known-masters.ts';
import { generateSigningKey, masterKeyOf, parseSigningKey, type SigningKey } from './signing-key.ts';

/** What stands beside the key that signs: the next one, and public keys of those before. */
const RING_FILE = 'signing-keys.json';
/** How often it is looked whether a key's time has come. */
const LOOK_MS = 1_000;
/** A key is known for so much longer than its last ticket lives: this master's clock may be wrong by hours. */
const KEEP_LONGER_MS = 86_400_000;

const publicKeySchema = z.object({ keyId: z.string(), publicKey: z.string() });
const ringSchema = z.object({
  version: z.literal(1),
  /** The key that all this goes with. */
  current: publicKeySchema,
  sinceMs: z.number(),
  nextPem: z.string().optional(),
  previous: z.array(publicKeySchema.extend({ untilMs: z.number() })).max(MOST_KEYS),
});
type Ring = z.output<typeof ringSchema>;

/** What signs now. */
export interface Signer {
  readonly current: SigningKey;
}

interface KeyRingInit {
  /** The key that signs until it is renewed. */
  readonly first: SigningKey;
  /** Where keys outlive the process; left out, they do not. */
  readonly state: StateFolder | undefined;
  /** After this a key is replaced. */
  readonly renewMs: number;
  /** A key is known to others for so long before it signs. */
  readonly aheadMs: number;
  /** How long what it has signed is of use. */
  readonly lifeMs: number;
  /** Whether others can be told now. */
  readonly canTell: () => boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** Told each time that `published` has changed. */
  readonly onPublished: () => void;
  /** Told when a key is due to be replaced and there are too many of those before, once each time. */
  readonly onWaiting: () => void;
  readonly onFailure: (failure: unknown) => void;
}

/**
 * The keys of this master, one after the other: each is published before it signs, and as long as something
 * that it has signed is good. What is on disk goes ahead of what is told, so that a restart takes nothing
 * back.
 */
export class KeyRing implements Signer {
  readonly #init: KeyRingInit;
  #current: SigningKey;
  #next: SigningKey | undefined;
  #previous: Ring['previous'];
  #sinceMs: number;
  /** Whether what is on disk goes with the key that signs. */
  #isKept: boolean;
  /** Since when everybody could know the next one, by the steady clock. */
  #toldAtMs: number | undefined;
  /** Whether a renewal waits until one of the keys before is of no use any more. */
  #isWaiting = false;
  #looking: NodeJS.Timeout | undefined;
  #step: Promise<void> | undefined;

  constructor(init: KeyRingInit) {
    this.#init = init;
    const ring = readRing(init.state);
    const next = ring?.nextPem === undefined ? undefined : parseSigningKey(ring.nextPem, RING_FILE);
    this.#current = init.first;
    this.#isKept = ring?.current.keyId === init.first.keyId;
    if (ring?.current.keyId === init.first.keyId) {
      this.#next = next;
      this.#previous = ring.previous;
      this.#sinceMs = ring.sinceMs;
    } else {
      // The process ended while the next key came into use. Beside a key that an operator has put there
      // nothing of the one before counts: it may have been stolen.
      const wasNext = ring && next?.keyId === init.first.keyId;
      this.#previous = wasNext ? [this.#retired(ring.current), ...ring.previous] : [];
      this.#sinceMs = init.now();
    }
  }

  get current(): SigningKey {
    return this.#current;
  }

  /** All keys by which something of this master may be signed, now or soon. */
  get published(): readonly MasterKey[] {
    const keys = [this.#current, ...(this.#next ? [this.#next] : [])].map(masterKeyOf);
    return [...keys, ...this.#previous.map(({ keyId, publicKey }) => ({ keyId, publicKey }))];
  }

  /** Looks after the keys until `close`. */
  start(): void {
    this.#looking = setInterval(() => void this.look(), LOOK_MS).unref();
    void this.look();
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#step;
  }

  /** Takes the next step whose time has come. Calls that overlap share one. Never rejects. */
  look(): Promise<void> {
    this.#step ??= this.#takeStep()
      .catch(this.#init.onFailure)
      .finally(() => {
        this.#step = undefined;
      });
    return this.#step;
  }

  async #takeStep(): Promise<void> {
    const { renewMs, aheadMs, lifeMs, canTell, now, steadyMs, onPublished } = this.#init;
    if (this.#sinceMs > now()) {
      // The clock was ahead then: by now's the key would not be renewed before it has come so far, nor would
      // those before it be forgotten.
      this.#sinceMs = now();
      const latestMs = now() + lifeMs + KEEP_LONGER_MS;
      this.#previous = this.#previous.map((key) => ({ ...key, untilMs: Math.min(key.untilMs, latestMs) }));
      this.#isKept = false;
    }
    const left = this.#previous.filter(({ untilMs }) => now() <= untilMs);
    const isDue = !this.#next && now() - this.#sinceMs >= renewMs;
    const hasRoom = left.length + 2 <= MOST_KEYS;
    this.#noteWaiting(isDue && !hasRoom);
    if (left.length < this.#previous.length) {
      this.#previous = left;
      await this.#save();
      onPublished();
    } else if (this.#next) {
      // Whoever could not hear of it hears of it now.
      if (!canTell()) this.#toldAtMs = undefined;
      else this.#toldAtMs ??= steadyMs();
      if (this.#toldAtMs !== undefined && steadyMs() - this.#toldAtMs >= aheadMs) await this.#use(this.#next);
    } else if (isDue && hasRoom) {
      const next = generateSigningKey();
      await this.#save({ next });
      this.#next = next;
      onPublished();
    } else if (!this.#isKept) {
      // From when on it counts, be it the first one or an operator's.
      await this.#save();
    }
  }

  #noteWaiting(isWaiting: boolean): void {
    if (isWaiting && !this.#isWaiting) this.#init.onWaiting();
    this.#isWaiting = isWaiting;
  }

  async #use(next: SigningKey): Promise<void> {
    const { state, now, onPublished } = this.#init;
    const previous = [this.#retired(masterKeyOf(this.#current)), ...this.#previous];
    const sinceMs = now();
    await state?.save(SIGNING_KEY_FILE, next.toPem());
    await this.#save({ current: next, next: undefined, previous, sinceMs });
    this.#current = next;
    this.#previous = previous;
    this.#sinceMs = sinceMs;
    this.#next = undefined;
    this.#toldAtMs = undefined;
    onPublished();
  }

  #retired({ keyId, publicKey }: MasterKey): Ring['previous'][number] {
    const { lifeMs, now } = this.#init;
    return { keyId, publicKey, untilMs: now() + lifeMs + KEEP_LONGER_MS };
  }

  async #save(
    change: { current?: SigningKey; next?: SigningKey | undefined } & Partial<
      Pick<Ring, 'previous' | 'sinceMs'>
    > = {},
  ): Promise<void> {
    const now = {
      current: this.#current,
      next: this.#next,
      previous: this.#previous,
      sinceMs: this.#sinceMs,
    };
    const { current, next, previous, sinceMs } = { ...now, ...change };
    const nextPem = next?.toPem();
    const ring: Ring = {
      version: 1,
      current: masterKeyOf(current),
      sinceMs,
      previous,
      ...(nextPem ? { nextPem } : {}),
    };
    await this.#init.state?.save(RING_FILE, JSON.stringify(ring));
    this.#isKept = true;
  }
}

function readRing(state: StateFolder | undefined): Ring | undefined {
  const text = state?.read(RING_FILE);
  if (text === undefined) return undefined;
  const ring = ringSchema.safeParse(parseJson(text)).data;
  if (!ring) throw new LonghaulError('state-damaged', { detail: RING_FILE });
  return ring;
}
