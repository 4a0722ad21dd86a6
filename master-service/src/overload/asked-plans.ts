/** Plans are counted over so long. */
const WINDOW_MS = 1_000;
/** Client networks counted at once; further ones ask for little. */
const MOST_NETWORKS = 10_000;

/** Which client networks were planned for most often, of late. */
export class AskedPlans {
  #sinceMs = Number.NEGATIVE_INFINITY;
  #ofNetworks = new Map<string, number>();
  #ofAll = 0;

  /** Whether this network has had as many plans as one has on average. */
  asksMuch(network: string, nowMs: number): boolean {
    this.#forget(nowMs);
    return (this.#ofNetworks.get(network) ?? 0) * this.#ofNetworks.size >= this.#ofAll;
  }

  /** A plan was made for this network. */
  count(network: string, nowMs: number): void {
    this.#forget(nowMs);
    const before = this.#ofNetworks.get(network);
    if (before === undefined && this.#ofNetworks.size >= MOST_NETWORKS) return;
    this.#ofNetworks.set(network, (before ?? 0) + 1);
    this.#ofAll += 1;
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#sinceMs < WINDOW_MS) return;
    this.#sinceMs = nowMs;
    this.#ofNetworks = new Map();
    this.#ofAll = 0;
  }
}
