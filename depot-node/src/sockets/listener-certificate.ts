import { createSecureContext, type SecureContext } from 'node:tls';
import { LonghaulError } from '@longhaul/shared';
import type { TlsMaterial } from '@longhaul/shared/service';
import type { TlsEnding } from '../tls/tls-ending.ts';

/** Certificate and key of a listener. Each new connection gets the newest; those that stand go on with theirs. */
export class ListenerCertificate {
  /** What ends TLS outside of Node, where something does. */
  readonly ending: TlsEnding | undefined;
  #material: TlsMaterial;
  #context: SecureContext;
  #onRenewed: ((material: TlsMaterial) => void) | undefined;

  /** Throws as {@link renew} does. */
  constructor(material: TlsMaterial, ending?: TlsEnding) {
    this.ending = ending;
    this.#material = material;
    this.#context = contextOf(material, ending);
  }

  get context(): SecureContext {
    return this.#context;
  }

  get material(): TlsMaterial {
    return this.#material;
  }

  /** Throws, and keeps the old one, when certificate and key cannot be used together, or by what ends TLS here (`config-invalid`). */
  renew(material: TlsMaterial): void {
    this.#context = contextOf(material, this.ending);
    this.#material = material;
    this.#onRenewed?.(material);
  }

  /** Tells whoever answers with it by himself of each new one. */
  tellRenewals(onRenewed: (material: TlsMaterial) => void): void {
    this.#onRenewed = onRenewed;
  }
}

function contextOf(material: TlsMaterial, ending: TlsEnding | undefined): SecureContext {
  const context = createSecureContext(material);
  try {
    ending?.check(material);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LonghaulError('config-invalid', {
      detail: `tls: the relay threads cannot use the certificate (${reason}); give another one, or set relay.tls to node`,
      cause,
    });
  }
  return context;
}
