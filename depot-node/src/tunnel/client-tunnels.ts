/** Counts the tunnels of clients, so that a ticket for one download opens no more of them at once than it may. */
export class ClientTunnels {
  readonly #mostPerJob: number;
  readonly #open = new Map<string, number>();

  constructor(mostPerJob: number) {
    this.#mostPerJob = mostPerJob;
  }

  /** Lets one more tunnel of a job in; gives what is to be called when it has ended, or `undefined` if it may not. */
  enter(jobId: string): (() => void) | undefined {
    const open = this.#open.get(jobId) ?? 0;
    if (open >= this.#mostPerJob) return undefined;
    this.#open.set(jobId, open + 1);
    return () => {
      const left = (this.#open.get(jobId) ?? 1) - 1;
      if (left === 0) this.#open.delete(jobId);
      else this.#open.set(jobId, left);
    };
  }
}
