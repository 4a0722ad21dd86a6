import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { TlsEnding } from '../tls/tls-ending.ts';

/**
 * The authorities that a depot trusts: the usual ones and those of these PEM texts. New connections go by the
 * newest.
 */
export class Trust {
  /** What ends TLS outside of Node, where something does. */
  readonly ending: TlsEnding | undefined;
  #extraAuthorities!: readonly string[];
  #authorities!: readonly string[];
  #context: SecureContext | undefined;

  constructor(extraAuthorities: readonly string[] = [], ending?: TlsEnding) {
    this.ending = ending;
    this.renew(extraAuthorities);
  }

  /** For Node's own TLS. Where that is not the rule it is made when it is first asked for: it is a MB, and 13 ms. */
  get context(): SecureContext {
    this.#context ??= contextOf(this.#extraAuthorities);
    return this.#context;
  }

  /** All of them, PEM; another array whenever they change. */
  get authorities(): readonly string[] {
    return this.#authorities;
  }

  renew(extraAuthorities: readonly string[]): void {
    this.#extraAuthorities = extraAuthorities;
    this.#authorities = allAuthorities(extraAuthorities);
    this.#context = this.ending ? undefined : contextOf(extraAuthorities);
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
