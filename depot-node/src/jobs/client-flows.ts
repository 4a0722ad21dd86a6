/** What goes to one client while anything of it runs here. */
interface Flow {
  running: number;
  bytes: number;
  readonly jobs: Map<string, JobParts>;
}

/** What the connections of one job brought that asked for parts. */
interface JobParts {
  running: number;
  bytes: number;
}

/** One connection among all that go to its client. */
export interface OwnFlow {
  /** Counts what went to the client over this connection. */
  readonly note: (bytes: number) => void;
  /** Of all that has gone to the client since it began, its share, from 0 to 1; 1 while nothing has. */
  readonly share: () => number;
  readonly end: () => void;
}

/**
 * What goes to each client that has anything running: who downloads several files at once shares his line
 * among them.
 */
export class ClientFlows {
  readonly #flows = new Map<string, Flow>();

  /** Clients that have anything running. */
  get size(): number {
    return this.#flows.size;
  }

  /**
   * A connection to a client begins. Those of a job that ask for parts are one download, which runs beside
   * others; each that asks for the whole is one by itself, with whatever parts of the job come meanwhile.
   */
  begin(address: string, jobId: string, isPart: boolean): OwnFlow {
    const flow = this.#flows.get(address) ?? { running: 0, bytes: 0, jobs: new Map<string, JobParts>() };
    const parts = flow.jobs.get(jobId) ?? { running: 0, bytes: 0 };
    this.#flows.set(address, flow);
    flow.jobs.set(jobId, parts);
    flow.running += 1;
    parts.running += 1;
    const before = { all: flow.bytes, parts: parts.bytes };
    let wholeBytes = 0;
    return {
      note: (bytes) => {
        flow.bytes += bytes;
        if (isPart) parts.bytes += bytes;
        else wholeBytes += bytes;
      },
      share: () => {
        const all = flow.bytes - before.all;
        return all > 0 ? (wholeBytes + parts.bytes - before.parts) / all : 1;
      },
      end: () => {
        flow.running -= 1;
        parts.running -= 1;
        if (parts.running === 0) flow.jobs.delete(jobId);
        if (flow.running === 0) this.#flows.delete(address);
      },
    };
  }
}
