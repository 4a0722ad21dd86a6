import { domainOf, type OriginUrl } from '@longhaul/shared';
import { Findings } from './findings.ts';
import { makerOf } from './origin-folder.ts';

/** How long it is remembered: what servers do changes seldom, and one answer that has its length ends it. */
const REMEMBERED_MS = 86_400_000;
/** Folders and programs that are remembered at once, fairly shared by domains; as many of those that say no goodbye. */
const MOST_REMEMBERED = 1_000;

/**
 * What gives bodies that end with their connection: such a body is the entry depot's alone, for through a
 * tunnel that end would prove nothing. Who is known for it is asked by it alone at once: asked through a
 * chain first, it would make each file twice, and give what is good for one request to nobody. By folders of
 * an origin, or the program that a query is for, as a download names it. And where the connection ends
 * without a goodbye of TLS, so that the end of such a body cannot be told from a cut.
 */
export class UnframedBook {
  readonly #unframed: Findings;
  readonly #withoutGoodbye: Findings;

  constructor(nowMs: () => number) {
    const findings = () => new Findings({ nowMs, most: MOST_REMEMBERED, lifeMs: REMEMBERED_MS });
    this.#unframed = findings();
    this.#withoutGoodbye = findings();
  }

  /** Whether a body that ends with its connection is to be expected, by clients of this network. */
  isUnframed(url: OriginUrl, network: string): boolean {
    const maker = makerOf(url);
    return maker !== undefined && this.#unframed.has(maker, network, []);
  }

  /**
   * Takes note of how a body came to this depot without another one between, which may have taken away what
   * tells where it ends.
   */
  note(url: OriginUrl, network: string, isUnframed: boolean): void {
    const maker = makerOf(url);
    if (maker === undefined) return;
    if (isUnframed) this.#unframed.note(maker, domainOf(url.host), network, []);
    else {
      this.#unframed.forget(maker);
      this.#withoutGoodbye.forget(maker);
    }
  }

  /** Whether such a body is to be expected to end without a goodbye, by clients of this network. */
  endsWithoutGoodbye(url: OriginUrl, network: string): boolean {
    const maker = makerOf(url);
    return maker !== undefined && this.#withoutGoodbye.has(maker, network, []);
  }

  /** Takes note that such a body has ended without a goodbye, at the same byte each time. */
  noteNoGoodbye(url: OriginUrl, network: string): void {
    const maker = makerOf(url);
    if (maker !== undefined) this.#withoutGoodbye.note(maker, domainOf(url.host), network, []);
  }
}
