import { type Address, formatPrefix, readAddress } from './address.ts';
import type { MeasuredPrefixes } from './measured-prefixes.ts';
import type { PrefixFiles } from './prefix-files.ts';

/**
 * By what a site is known: a line of the coverage file, for the prefix or for its autonomous system;
 * measurements; or nothing but that this site's master was asked.
 */
export const SITE_RULES = ['coverage', 'measured', 'as-coverage', 'asked'] as const;
export type SiteRule = (typeof SITE_RULES)[number];

/** Where an address is, and how that is known. */
export interface Place {
  /** Named as its depot is; left out where nobody knows. */
  readonly site?: { readonly name: string; readonly rule: SiteRule };
  /** The autonomous system that announces the address, by the table. */
  readonly asNumber?: number;
}

/** What each source says of an address, for operators. */
interface Explanation {
  readonly place: Place;
  readonly said: readonly Said[];
}

interface Said {
  readonly rule: SiteRule | 'as-table';
  /** The longest one around the address. */
  readonly prefix?: string;
  readonly site?: string;
  readonly asNumber?: number;
  /** Measurements do not override it. */
  readonly isFixed?: boolean;
  readonly ageMs?: number;
}

/** How the planner asks who is where. */
export interface Whereabouts {
  /** Of a client that asked this master, by its address. Nothing is known of what is no address. */
  readonly placeOfClient: (address: string, nowMs: number) => Place;
}

interface LookUpInit {
  readonly files: PrefixFiles;
  readonly measured: MeasuredPrefixes;
  /** The site of this master. */
  readonly site: () => string | undefined;
}

/** Puts together what files, measurements and the question itself say about an address. */
export class WhereaboutsLookUp implements Whereabouts {
  readonly #init: LookUpInit;
  readonly #counts: Record<SiteRule | 'none', number> = {
    coverage: 0,
    measured: 0,
    'as-coverage': 0,
    asked: 0,
    none: 0,
  };

  constructor(init: LookUpInit) {
    this.#init = init;
  }

  /** How many places were known by which rule. */
  get counts(): Readonly<Record<SiteRule | 'none', number>> {
    return this.#counts;
  }

  placeOfClient(text: string, nowMs: number): Place {
    const address = readAddress(text);
    const place = address ? this.#placeOf(address, nowMs) : {};
    this.#counts[place.site?.rule ?? 'none'] += 1;
    return place;
  }

  /** The same of a client's address with what every source says; counts nowhere. */
  explain(address: Address, nowMs: number): Explanation {
    const { files, measured, site } = this.#init;
    const covered = files.coverage(address);
    const nearest = measured.longest(address, nowMs);
    const system = files.system(address);
    const systemSite = system && files.systemCoverage(system.value);
    const own = site();
    const said: (Said | undefined)[] = [
      covered && { rule: 'coverage', ...covered, prefix: formatPrefix(covered.prefix) },
      nearest && { rule: 'measured', ...nearest, prefix: formatPrefix(nearest.prefix) },
      systemSite && { rule: 'as-coverage', asNumber: system.value, ...systemSite },
      own === undefined ? undefined : { rule: 'asked', site: own },
      system && { rule: 'as-table', prefix: formatPrefix(system.prefix), asNumber: system.value },
    ];
    return {
      place: this.#placeOf(address, nowMs),
      said: said.filter((one) => one !== undefined),
    };
  }

  #placeOf(address: Address, nowMs: number): Place {
    const asNumber = this.#init.files.system(address)?.value;
    const site = this.#siteOf(address, asNumber, nowMs);
    return { ...(site ? { site } : {}), ...(asNumber === undefined ? {} : { asNumber }) };
  }

  /** Measurements override what the operator says, unless that is fixed or about a longer prefix. */
  #siteOf(address: Address, asNumber: number | undefined, nowMs: number): Place['site'] {
    const { files, measured, site } = this.#init;
    const covered = files.coverage(address);
    const said = covered ?? (asNumber === undefined ? undefined : files.systemCoverage(asNumber));
    const nearest = said?.isFixed ? undefined : measured.longest(address, nowMs);
    if (nearest && nearest.prefix.length >= (covered?.prefix.length ?? 0))
      return { name: nearest.site, rule: 'measured' };
    if (said) return { name: said.site, rule: covered ? 'coverage' : 'as-coverage' };
    const own = site();
    return own === undefined ? undefined : { name: own, rule: 'asked' };
  }
}
