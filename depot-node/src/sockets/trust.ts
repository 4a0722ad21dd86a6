import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';

/** The authorities that a depot trusts: the usual ones and those of these PEM texts. New connections go by the newest. */
export class Trust {
  #context: SecureContext;

  constructor(extraAuthorities: readonly string[] = []) {
    this.#context = contextOf(extraAuthorities);
  }

  get context(): SecureContext {
    return this.#context;
  }

  renew(extraAuthorities: readonly string[]): void {
    this.#context = contextOf(extraAuthorities);
  }
}

function contextOf(extraAuthorities: readonly string[]): SecureContext {
  return extraAuthorities.length === 0
    ? createSecureContext()
    : createSecureContext({ ca: [...rootCertificates, ...extraAuthorities] });
}
