import { createSecureContext, type SecureContext } from 'node:tls';
import type { TlsMaterial } from '@longhaul/shared/service';

/** Certificate and key of a listener. Each new connection gets the newest; those that stand go on with theirs. */
export class ListenerCertificate {
  #context: SecureContext;

  constructor(material: TlsMaterial) {
    this.#context = createSecureContext(material);
  }

  get context(): SecureContext {
    return this.#context;
  }

  /** Throws, and keeps the old one, when certificate and key cannot be used together. */
  renew(material: TlsMaterial): void {
    this.#context = createSecureContext(material);
  }
}
