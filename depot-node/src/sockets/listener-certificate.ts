import { createSecureContext, type SecureContext } from 'node:tls';
import { LonghaulError } from '@longhaul/shared';
import { LISTENER_GROUPS, type TlsMaterial } from '@longhaul/shared/service';
import type { ListenerMaterial } from '../tls/tls-context.ts';
import type { TlsEnding } from '../tls/tls-ending.ts';

/** Certificate and key of a listener. Each new connection gets the newest; those that stand go on with theirs. */
export class ListenerCertificate {
  /** What ends TLS outside of Node, where something does. */
  readonly ending: TlsEnding | undefined;
  #material: ListenerMaterial;
  #context: SecureContext;
  #named: ReadonlyMap<string, SecureContext>;
  #onRenewed: ((material: ListenerMaterial) => void) | undefined;

  /** Throws as {@link renew} does. */
  constructor(material: ListenerMaterial, ending?: TlsEnding) {
    this.ending = ending;
    this.#material = material;
    this.#context = contextOf(material, ending);
    this.#named = namedContexts(material);
  }

  /** What a client is answered with that asks for this name. */
  contextFor(name: string): SecureContext {
    return this.#named.get(name.toLowerCase()) ?? this.#context;
  }

  get context(): SecureContext {
    return this.#context;
  }

  get material(): ListenerMaterial {
    return this.#material;
  }

  /**
   * Throws, and keeps the old one, when certificate and key cannot be used together, or by what ends TLS here
   * (`config-invalid`).
   */
  renew(material: ListenerMaterial): void {
    const named = namedContexts(material);
    this.#context = contextOf(material, this.ending);
    this.#named = named;
    this.#material = material;
    this.#onRenewed?.(material);
  }

  /** Tells whoever answers with it by himself of each new one. */
  tellRenewals(onRenewed: (material: ListenerMaterial) => void): void {
    this.#onRenewed = onRenewed;
  }
}

function namedContexts({ named = [] }: ListenerMaterial): ReadonlyMap<string, SecureContext> {
  return new Map(named.map(({ host, ...own }) => [host, nodesContext(own)]));
}

function nodesContext({ cert, key }: TlsMaterial): SecureContext {
  return createSecureContext({ cert, key, ecdhCurve: LISTENER_GROUPS });
}

function contextOf(material: ListenerMaterial, ending: TlsEnding | undefined): SecureContext {
  const context = nodesContext(material);
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
