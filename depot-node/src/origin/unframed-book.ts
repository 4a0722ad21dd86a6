import { domainOf, type OriginUrl } from '@longhaul/shared';
import { Findings } from './findings.ts';
import { makerOf } from './origin-folder.ts';

/** How long it is remembered: what servers do changes seldom, and one answer that has its length ends it. */
const REMEMBERED_MS = 86_400_000;
/** Folders and programs that are remembered at once, fairly shared by domains. */
const MOST_REMEMBERED = 1_000;

/**
 * What gives bodies that end with their connection: such a body is the entry depot's alone, for through a tunnel that end would prove nothing. Who is known for it is asked by it
 * alone at once: asked through a chain first, it would make each file twice, and give what is good for one request to nobody. By folders of an origin, or the program that a query is for,
 * as a download names it.
 */
export class UnframedBook {
  readonly #findings: Findings;

  constructor(nowMs: () => number) {
    this.#findings = new Findings({ nowMs, most: MOST_REMEMBERED, lifeMs: REMEMBERED_MS });
  }

  /** Whether a body that ends with its connection is to be expected, by clients of this network. */
  isUnframed(url: OriginUrl, network: string): boolean {
    const maker = makerOf(url);
    return maker !== undefined && this.#findings.has(maker, network, []);
  }

  /** Takes note of how a body came to this depot without another one between, which may have taken away what tells where it ends. */
  note(url: OriginUrl, network: string, isUnframed: boolean): void {
    const maker = makerOf(url);
    if (maker === undefined) return;
    if (isUnframed) this.#findings.note(maker, domainOf(url.host), network, []);
    else this.#findings.forget(maker);
  }
}
