import { EAGAIN, READABLE, type TrafficKernel, WRITABLE } from './kernel.ts';
import { PATTERN_BYTES, patternBytes } from './pattern.ts';
import { HeadReader, requestsOf } from './sink-dialogue.ts';
import type { FlowOrder, SinkReport } from './traffic-order.ts';

export interface Sink {
  /** Takes whole bodies. Throws when a flow fails, or with `verify` a byte is wrong. */
  readonly take: (order: FlowOrder, verify: boolean) => SinkReport;
  /** Takes the first bytes of every body and leaves all connections open. */
  readonly hold: (order: FlowOrder, takeBytes: number) => SinkReport;
  /** Closes whatever is open. */
  readonly release: () => void;
}

/** Flows that have asked and wait for their first byte: fewer than the shortest accept queue of any relay, 511. */
const MOST_WAITING = 200;
/** So many that none has more than its share of a depot with few descriptors, however many flows there are. */
const CLIENT_NETWORKS = 8;
/** Bytes of one call: flows take turns. */
const TURN_BYTES = 4 * 1024 * 1024;
/** Silence of all flows together after which they have failed. */
const SILENCE_MS = 20_000;

/** What has not come by then is held back by the relay. */
const QUIET_MS = 200;

interface Flow {
  readonly descriptor: number;
  /** What is still to be asked, one request after each answer's head. */
  readonly requests: string[];
  readonly head: HeadReader;
  isInBody: boolean;
  receivedBytes: number;
}

/** Of clients in several networks: a depot keeps half of what it has from any one. */
function clientAddress(flow: number): string {
  return `127.1.${flow % CLIENT_NETWORKS}.1`;
}

/** Takes bodies as fast as they come, in one loop that blocks its thread. */
export function createSink(kernel: TrafficKernel): Sink {
  const poll = kernel.createPoll();
  const flows = new Map<number, Flow>();
  const incoming = Buffer.alloc(TURN_BYTES);
  let pattern: Buffer | undefined;

  const release = () => {
    for (const descriptor of flows.keys()) kernel.close(descriptor);
    flows.clear();
  };

  function open(order: FlowOrder): void {
    const descriptor = kernel.connect(clientAddress(flows.size), order.host, order.port);
    flows.set(descriptor, {
      descriptor,
      requests: requestsOf(order),
      head: new HeadReader(),
      isInBody: false,
      receivedBytes: 0,
    });
    poll.add(descriptor, WRITABLE);
  }

  function ask(flow: Flow): void {
    const request = flow.requests.shift();
    if (request === undefined) throw new Error('an answer came to no request');
    const bytes = Buffer.from(request);
    if (kernel.send(flow.descriptor, bytes) !== bytes.length)
      throw new Error(`a request could not be sent: errno ${kernel.errno()}`);
    poll.change(flow.descriptor, READABLE);
  }

  /** Body bytes that came, or undefined at the connection's end. */
  function read(flow: Flow, onBytes: ((flow: Flow, bytes: Buffer) => void) | undefined): number | undefined {
    if (flow.isInBody && !onBytes) {
      const count = kernel.discard(flow.descriptor, TURN_BYTES);
      if (count < 0) return refuseError(kernel, flow);
      return count === 0 ? undefined : count;
    }
    const count = kernel.receive(flow.descriptor, incoming);
    if (count < 0) return refuseError(kernel, flow);
    if (count === 0) return undefined;
    let rest: Buffer = incoming.subarray(0, count);
    while (!flow.isInBody) {
      const after = flow.head.take(rest);
      if (after === undefined) return 0;
      rest = after;
      if (flow.requests.length > 0) ask(flow);
      else flow.isInBody = true;
    }
    onBytes?.(flow, rest);
    return rest.length;
  }

  function run(
    order: FlowOrder,
    wantedBytes: number,
    onBytes: ((flow: Flow, bytes: Buffer) => void) | undefined,
    onDone: (flow: Flow) => void,
  ): SinkReport {
    const started = performance.now();
    let opened = 0;
    let waiting = 0;
    let done = 0;
    let receivedBytes = 0;
    while (done < order.flows) {
      for (; opened < order.flows && waiting < MOST_WAITING; opened += 1, waiting += 1) open(order);
      const ready = poll.wait(SILENCE_MS, (descriptor, is) => {
        const flow = flows.get(descriptor);
        if (!flow) return;
        if ((is & WRITABLE) !== 0 && flow.receivedBytes === 0 && !flow.isInBody) {
          ask(flow);
          return;
        }
        const count = read(flow, onBytes);
        if (count === undefined)
          throw new Error(`a flow ended after ${flow.receivedBytes} of ${order.bodyBytes} bytes`);
        if (flow.receivedBytes === 0 && count > 0) waiting -= 1;
        flow.receivedBytes += count;
        receivedBytes += count;
        if (flow.receivedBytes < wantedBytes || flow.receivedBytes - count >= wantedBytes) return;
        done += 1;
        onDone(flow);
      });
      if (ready === 0)
        throw new Error(
          `${order.flows - done} of ${order.flows} flows gave nothing for ${SILENCE_MS / 1000} s`,
        );
    }
    return { seconds: (performance.now() - started) / 1000, receivedBytes };
  }

  /** Takes what still comes, until nothing has come for a while. */
  function drain(): void {
    const take = (descriptor: number) => {
      const flow = flows.get(descriptor);
      if (flow && read(flow, undefined) === undefined) throw new Error('a flow ended that was to rest');
    };
    while (poll.wait(QUIET_MS, take) > 0);
  }

  return {
    take: (order, verify) => {
      pattern ??= verify ? patternBytes() : undefined;
      const compare = verify && pattern ? comparison(pattern) : undefined;
      const report = run(order, order.bodyBytes, compare, ({ descriptor }) => {
        kernel.close(descriptor);
        flows.delete(descriptor);
      });
      const wantedBytes = order.flows * order.bodyBytes;
      if (report.receivedBytes !== wantedBytes)
        throw new Error(`${report.receivedBytes} bytes came instead of ${wantedBytes}`);
      return report;
    },
    hold: (order, takeBytes) => {
      const fallsSilent = order.firstBytes !== undefined;
      const report = run(order, takeBytes, undefined, ({ descriptor }) => {
        if (!fallsSilent) poll.remove(descriptor);
      });
      if (fallsSilent) drain();
      return report;
    },
    release,
  };
}

function refuseError(kernel: TrafficKernel, flow: Flow): number {
  const errno = kernel.errno();
  if (errno === EAGAIN) return 0;
  throw new Error(`a flow broke after ${flow.receivedBytes} bytes: errno ${errno}`);
}

/** Compares what comes with the pattern, wherever the pieces are cut. */
function comparison(pattern: Buffer): (flow: Flow, bytes: Buffer) => void {
  return (flow, bytes) => {
    for (let at = 0; at < bytes.length; ) {
      const offset = (flow.receivedBytes + at) % PATTERN_BYTES;
      const length = Math.min(bytes.length - at, PATTERN_BYTES - offset);
      if (bytes.compare(pattern, offset, offset + length, at, at + length) !== 0)
        throw new Error(
          `wrong bytes between ${flow.receivedBytes + at} and ${flow.receivedBytes + at + length}`,
        );
      at += length;
    }
  };
}
