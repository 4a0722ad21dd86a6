import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { TlsEnding } from '../tls/tls-ending.ts';

/** The authorities that a depot trusts: the usual ones and those of these PEM texts. New connections go by the newest. */
export class Trust {
  /** What ends TLS outside of Node, where something does. */
  readonly ending: TlsEnding | undefined;
  #context: SecureContext;
  #authorities: readonly string[];

  constructor(extraAuthorities: readonly string[] = [], ending?: TlsEnding) {
    this.ending = ending;
    this.#context = contextOf(extraAuthorities);
    this.#authorities = allAuthorities(extraAuthorities);
  }

  get context(): SecureContext {
    return this.#context;
  }

  /** All of them, PEM; another array whenever they change. */
  get authorities(): readonly string[] {
    return this.#authorities;
  }

  renew(extraAuthorities: readonly string[]): void {
    this.#context = contextOf(extraAuthorities);
    this.#authorities = allAuthorities(extraAuthorities);
  }
}

function contextOf(extraAuthorities: readonly string[]): SecureContext {
  return extraAuthorities.length === 0
    ? createSecureContext()
    : createSecureContext({ ca: allAuthorities(extraAuthorities) });
}

function allAuthorities(extraAuthorities: readonly string[]): string[] {
  return [...rootCertificates, ...extraAuthorities];
}
