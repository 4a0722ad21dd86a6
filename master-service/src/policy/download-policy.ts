import {
  type AddressPolicy,
  type HostPattern,
  isAddressLiteral,
  isInNetworks,
  matchesHostPattern,
  type OriginUrl,
  ok,
  type Result,
  refuse,
  refuseAddress,
} from '@longhaul/shared';
import type { PublicCaps } from '../config.ts';

interface DownloadPolicyInit {
  readonly origins: readonly HostPattern[];
  readonly clients: readonly string[];
  readonly public: false | PublicCaps;
  readonly addresses: AddressPolicy;
  /** Where depots and masters listen: downloads from there would be loops. */
  readonly overlay: { has(host: string, port: number): boolean };
}

/** How a download was let in: `metered` ones count against the caps of their client's network. */
export interface Admission {
  readonly metered: boolean;
}

/** Who may download what. The same rule guards chains, direct answers and plans, so `/get/` is no open redirector. */
export class DownloadPolicy {
  readonly #init: DownloadPolicyInit;
  /** Those that names may be asked at. */
  readonly #ports: ReadonlySet<number>;

  constructor(init: DownloadPolicyInit) {
    const { ports, allow } = init.addresses;
    this.#init = init;
    this.#ports = new Set([...ports, ...allow.flatMap((entry) => entry.ports)]);
  }

  /** Checks target and client; refuses with `origin-not-allowed` and the codes of `checkTarget`. */
  admit(url: OriginUrl, clientAddress: string): Result<Admission> {
    const target = this.checkTarget(url);
    if (!target.ok) return target;
    const { origins, clients } = this.#init;
    if (origins.some((pattern) => matchesHostPattern(pattern, url.host, url.port)))
      return ok({ metered: false });
    if (isInNetworks(clientAddress, clients)) return ok({ metered: false });
    return this.#init.public ? ok({ metered: true }) : refuse('origin-not-allowed');
  }

  /**
   * What holds for every target, also of an origin's redirect: port and, for literals, address. Names are resolved and
   * checked again by the exit depot, at the moment it connects.
   */
  checkTarget(url: Pick<OriginUrl, 'host' | 'port'>): Result<void> {
    const { addresses, overlay } = this.#init;
    const literal = literalOf(url.host);
    if (overlay.has(literal ?? url.host, url.port)) {
      return refuse('address-not-allowed', 'it is a part of Longhaul itself');
    }
    if (literal !== undefined) {
      const refusal = refuseAddress(literal, url.port, addresses);
      return refusal ? refuse(refusal) : ok(undefined);
    }
    return this.#ports.has(url.port) ? ok(undefined) : refuse('port-not-allowed');
  }
}

// RFC 6761 section 6.3: `localhost` and every name below it is the loopback address.
function literalOf(host: string): string | undefined {
  if (isAddressLiteral(host)) return host;
  return host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : undefined;
}
