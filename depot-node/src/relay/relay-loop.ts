import type { Kernel } from '../kernel/open-kernel.ts';
import { createBodyFlow } from './body-flow.ts';
import { createBufferPool } from './buffer-pool.ts';
import type { End } from './end.ts';
import type { Flow, FlowComponents } from './flow.ts';
import { createPipePool } from './pipe-pool.ts';
import { ThreadDigests } from './thread-digests.ts';
import type { FlowEnd, FlowProgress, ThreadCommand, ThreadReport } from './thread-message.ts';
import { createTunnelFlow } from './tunnel-flow.ts';

/** Timeouts and progress are looked at this often; between two looks a resting flow costs nothing. */
const TICK_MS = 250;
// Key of the descriptor that says that commands have come; sockets have higher ones.
const WAKER_KEY = 0;

export interface LoopComponents {
  readonly kernel: Kernel;
  /** Readable when commands have come. */
  readonly waker: number;
  readonly nextCommand: () => ThreadCommand | undefined;
  readonly report: (report: ThreadReport) => void;
  readonly nowMs: () => number;
}

interface Watched {
  readonly end: End;
  readonly flow: Flow;
}

/**
 * Runs flows until it is told to stop. Every flow that can move gets one turn, then events and commands are looked at
 * again: a fast flow never keeps another one waiting for longer than one pair of splices each.
 */
export function runRelayLoop({ kernel, waker, nextCommand, report, nowMs }: LoopComponents): void {
  const readiness = kernel.openReadiness();
  const pipes = createPipePool(kernel);
  const digests = new ThreadDigests();
  const components: FlowComponents = { kernel, pipes, buffers: createBufferPool(kernel), digests };
  const flows = new Map<number, Flow>();
  const keysOf = new Map<Flow, number[]>();
  const watched: (Watched | undefined)[] = [undefined];
  const freeKeys: number[] = [];
  /** Keys freed in this round: events that came with the same wait may still name them. */
  const freedKeys: number[] = [];
  let queue: Flow[] = [];
  let now = nowMs();
  let nextTickMs = now + TICK_MS;
  const state = { stopping: false };

  const enqueue = (flow: Flow) => {
    if (flow.queued) return;
    flow.queued = true;
    queue.push(flow);
  };

  const watch = (flow: Flow): boolean => {
    const keys: number[] = [];
    keysOf.set(flow, keys);
    return flow.ends.every((end) => {
      const key = freeKeys.pop() ?? watched.length;
      keys.push(key);
      watched[key] = { end, flow };
      return readiness.watch(end.descriptor, key);
    });
  };

  const start = (flow: Flow) => {
    flows.set(flow.id, flow);
    if (watch(flow)) enqueue(flow);
    else finish(flow, 'relay-failed');
  };

  const finish = (flow: Flow, end: FlowEnd) => {
    if (!flows.delete(flow.id)) return;
    const rest = flow.finish(end);
    for (const key of keysOf.get(flow) ?? []) {
      watched[key] = undefined;
      freedKeys.push(key);
    }
    keysOf.delete(flow);
    for (const { descriptor } of flow.ends) readiness.unwatch(descriptor);
    // The report goes out before the descriptors are closed. If the thread dies in between, the main thread closes only flows that
    // were not reported, so it never closes a number that the system has given to somebody else.
    report({
      type: 'finished',
      id: flow.id,
      end,
      bytesUp: flow.bytesUp(),
      bytesDown: flow.bytesDown(),
      rest,
      segments: flow.segments?.(),
    });
    for (const one of flow.ends) one.close();
  };

  const obey = (command: ThreadCommand) => {
    switch (command.type) {
      case 'tunnel':
        return start(createTunnelFlow(command, components, now));
      case 'body':
        return start(createBodyFlow(command, components, now));
      case 'cancel': {
        const flow = flows.get(command.id);
        return flow && finish(flow, 'cancelled');
      }
      case 'digest-finish':
        return report({ type: 'digest', id: command.id, digest: digests.obey(command) });
      case 'digest-begin':
      case 'digest-add':
      case 'digest-drop':
        return digests.obey(command);
      case 'stop':
        state.stopping = true;
        return undefined;
      default:
        throw new Error(`unknown command ${JSON.stringify(command satisfies never)}`);
    }
  };

  const handleEvents = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const key = readiness.key(index);
      if (key === WAKER_KEY) {
        kernel.rest(waker);
        for (let command = nextCommand(); command; command = nextCommand()) obey(command);
        continue;
      }
      const found = watched[key];
      if (!found) continue;
      const event = readiness.event(index);
      if (event.readable) found.end.readable = true;
      if (event.writable) found.end.writable = true;
      if (event.failed) found.end.failed = true;
      enqueue(found.flow);
    }
  };

  const runTurns = () => {
    const batch = queue;
    queue = [];
    for (const flow of batch) {
      flow.queued = false;
      if (!flows.has(flow.id)) continue;
      const turn = flow.turn(now);
      if (turn === 'again') enqueue(flow);
      else if (turn !== 'wait') finish(flow, turn.end);
    }
  };

  const tick = () => {
    nextTickMs = now + TICK_MS;
    const progress: FlowProgress[] = [];
    for (const flow of flows.values()) {
      const end = flow.expired(now);
      if (end) {
        finish(flow, end);
        continue;
      }
      const [down, up] = [flow.bytesDown(), flow.bytesUp()];
      if (!flow.wantsProgress || down + up === flow.reportedBytes) continue;
      flow.reportedBytes = down + up;
      progress.push([flow.id, down, up]);
    }
    if (progress.length > 0) report({ type: 'progress', flows: progress });
  };

  const waitMs = () => {
    if (queue.length > 0) return 0;
    return flows.size > 0 ? Math.max(0, Math.ceil(nextTickMs - now)) : -1;
  };

  if (!readiness.watchWaker(waker, WAKER_KEY)) throw new Error('the waker cannot be watched');
  report({ type: 'ready' });
  try {
    while (!state.stopping) {
      const count = readiness.wait(waitMs());
      now = nowMs();
      handleEvents(count);
      runTurns();
      if (now >= nextTickMs) tick();
      freeKeys.push(...freedKeys.splice(0));
    }
  } finally {
    for (const flow of flows.values()) finish(flow, 'relay-failed');
    pipes.close();
    readiness.close();
  }
}
