import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A promise that is known not to hold yet: it is shown in every run, and does not end one as a failure. */
export interface KnownFault {
  /** Names of attacks. */
  readonly attacks: readonly string[];
  /** What the failure says, in part. */
  readonly says: string;
  readonly why: string;
}

/** The list that somebody is about to shorten. */
export function readKnownFaults(): readonly KnownFault[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '..', 'known-faults.json'), 'utf8'),
  ) as readonly KnownFault[];
}

/** Why a failure of an attack is known; `undefined` where it is not. */
export function whyKnown(faults: readonly KnownFault[], attack: string, failure: string): string | undefined {
  return faults.find(({ attacks, says }) => attacks.includes(attack) && failure.includes(says))?.why;
}
