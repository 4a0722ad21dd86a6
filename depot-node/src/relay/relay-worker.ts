import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openKernel } from '../kernel/open-kernel.ts';
import { runRelayLoop } from './relay-loop.ts';
import type { ThreadCommand, ThreadReport } from './thread-message.ts';

/** What a relay thread is started with. */
export interface RelayWorkerData {
  readonly port: MessagePort;
  readonly waker: number;
}

const { port, waker } = workerData as RelayWorkerData;
const access = openKernel();
if (!access.kernel) throw new Error(access.reason);
runRelayLoop({
  kernel: access.kernel,
  waker,
  // The thread never returns to its event loop, so messages are fetched.
  nextCommand: () => receiveMessageOnPort(port)?.message as ThreadCommand | undefined,
  report: (report: ThreadReport) => port.postMessage(report, transferOf(report)),
  nowMs: () => performance.now(),
});
port.close();

function transferOf(report: ThreadReport): ArrayBuffer[] {
  return report.type === 'finished' && report.rest ? [report.rest.buffer] : [];
}
