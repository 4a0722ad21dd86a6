import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsMaterial } from '@longhaul/shared/service';
import type { TlsEnding } from '../tls/tls-ending.ts';

/** Certificate and key of a listener. Each new connection gets the newest; those that stand go on with theirs. */
export class ListenerCertificate {
  /** What ends TLS outside of Node, where something does. */
  readonly ending: TlsEnding | undefined;
  #material: TlsMaterial;
  #context: SecureContext;

  constructor(material: TlsMaterial, ending?: TlsEnding) {
    this.ending = ending;
    this.#material = material;
    this.#context = createSecureContext(material);
  }

  get context(): SecureContext {
    return this.#context;
  }

  get material(): TlsMaterial {
    return this.#material;
  }

  /** Throws, and keeps the old one, when certificate and key cannot be used together. */
  renew(material: TlsMaterial): void {
    this.#context = createSecureContext(material);
    this.#material = material;
  }
}
