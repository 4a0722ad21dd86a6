import { MAC_PURPOSE } from '@longhaul/shared';
import { LruMap, type PairMac } from '@longhaul/shared/service';
import type { Identity } from '../identity.ts';

/** Neighbours whose keys are kept; another one costs two milliseconds more. */
const MOST_NEIGHBOURS = 1000;

interface PairMacsComponents {
  readonly identity: Pick<Identity, 'agree'>;
  /** As registered now. */
  readonly publicKeyOf: (depot: string) => string | undefined;
}

/**
 * The keys for MACs that this depot has together with each other one: worked out of both identities, so
 * nobody sends or stores any.
 */
export class PairMacs {
  readonly #components: PairMacsComponents;
  readonly #known = new LruMap<string, { readonly publicKey: string; readonly mac: PairMac | undefined }>(
    MOST_NEIGHBOURS,
  );

  constructor(components: PairMacsComponents) {
    this.#components = components;
  }

  /** The key together with this depot; `undefined` where it is not registered, or its key is none. */
  with(depot: string): PairMac | undefined {
    const { identity, publicKeyOf } = this.#components;
    const publicKey = publicKeyOf(depot);
    if (publicKey === undefined) return undefined;
    const known = this.#known.get(depot);
    if (known?.publicKey === publicKey) return known.mac;
    const mac = identity.agree(publicKey, MAC_PURPOSE);
    this.#known.set(depot, { publicKey, mac });
    return mac;
  }
}
