import {
  addressProofText,
  type ChallengeAnswer,
  challengeText,
  clientPrefix,
  ok,
  parseChallengeTarget,
  parseChallengeWord,
  plainAddress,
  type RegisterRequest,
  type Result,
  refuse,
} from '@longhaul/shared';
import type { Identity } from '../identity.ts';
import { checkMastersWord, type MastersWordComponents } from './masters-word.ts';

/**
 * Answers in a minute to one client network (/24 or /48), to one address of a depot or master, and to one key
 * of masters: each asks 40 times at most.
 */
const ANSWERS_PER_MINUTE = 60;
/** Networks answered in a minute, so that what strangers ask costs a few hundredths of a core at most. */
const NETWORKS_PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;

interface AddressChallengesComponents extends MastersWordComponents {
  readonly identity: Identity;
  /** Where this depot is registered. */
  readonly place: () => Pick<RegisterRequest, 'host' | 'port' | 'tls'>;
  /** Whether an address is a depot's or a master's. */
  readonly isOwn: (address: string) => boolean;
  /** Takes note that a master asks from an address. */
  readonly noteMaster: (address: string) => void;
}

/**
 * Proves to whoever asks that this depot is where it is registered; bounded, because each proof is a
 * signature. What strangers ask leaves depots and masters theirs: those known by their addresses, and a
 * master by its word from wherever it asks.
 */
export class AddressChallenges {
  readonly #components: AddressChallengesComponents;
  readonly #networks = new Map<string, number>();
  /** Addresses of depots and masters, and keys of masters. */
  readonly #own = new Map<string, number>();
  #minute = 0;

  constructor(components: AddressChallengesComponents) {
    this.#components = components;
  }

  /**
   * Answers a raw request target of a challenge, with the `word` of a master beside it or none;
   * `bad-request`, or `too-many-challenges`.
   */
  answer(target: string, clientAddress: string, word = ''): Result<ChallengeAnswer> {
    const challenge = parseChallengeTarget(target);
    if (!challenge.ok) return challenge;
    this.#beginMinute();
    const mayAnswer =
      this.#takeOwnTurn(clientAddress, challenge.value, word) ||
      this.#takeStrangersTurn(clientPrefix(clientAddress));
    if (!mayAnswer) return refuse('too-many-challenges');
    const { identity, place } = this.#components;
    const { id } = identity;
    return ok({ id, signature: identity.sign(addressProofText(id, place(), challenge.value)) });
  }

  #beginMinute(): void {
    const minute = Math.floor(this.#components.nowMs() / MINUTE_MS);
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#networks.clear();
    this.#own.clear();
  }

  #takeOwnTurn(address: string, challenge: string, word: string): boolean {
    const { isOwn, noteMaster } = this.#components;
    if (isOwn(address) && take(this.#own, plainAddress(address))) return true;
    // A stranger may share the address, behind a proxy: then the key tells the master.
    const keyId = this.#mastersKey(address, challenge, word);
    if (keyId === undefined) return false;
    noteMaster(address);
    return take(this.#own, `key ${keyId}`);
  }

  #takeStrangersTurn(network: string): boolean {
    return (
      (this.#networks.has(network) || this.#networks.size < NETWORKS_PER_MINUTE) &&
      take(this.#networks, network)
    );
  }

  /**
   * The key by which a word beside a challenge is a master's, to this depot, now; `undefined` where it is
   * none, or too many were none.
   */
  #mastersKey(address: string, challenge: string, text: string): string | undefined {
    const word = parseChallengeWord(text);
    if (!word) return undefined;
    const signed = challengeText(this.#components.identity.id, challenge, word.timeMs);
    const checked = checkMastersWord({ ...word, what: 'the word', text: signed }, address, this.#components);
    return checked.ok ? word.keyId : undefined;
  }
}

function take(counts: Map<string, number>, who: string): boolean {
  const answered = counts.get(who) ?? 0;
  if (answered >= ANSWERS_PER_MINUTE) return false;
  counts.set(who, answered + 1);
  return true;
}
