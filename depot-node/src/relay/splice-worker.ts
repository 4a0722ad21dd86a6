import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openKernel } from '../kernel/open-kernel.ts';
import { runSpliceLoop } from './splice-loop.ts';
import type { SpliceCommand, SpliceReport } from './splice-message.ts';

/** What the splice thread is started with. */
export interface SpliceWorkerData {
  readonly port: MessagePort;
  readonly waker: number;
}

const { port, waker } = workerData as SpliceWorkerData;
const access = openKernel();
if (!access.kernel) throw new Error(access.reason);
runSpliceLoop({
  kernel: access.kernel,
  waker,
  // The thread never returns to its event loop, so messages are fetched.
  nextCommand: () => receiveMessageOnPort(port)?.message as SpliceCommand | undefined,
  report: (report: SpliceReport) => port.postMessage(report, transferOf(report)),
  nowMs: () => performance.now(),
});
port.close();

function transferOf(report: SpliceReport): ArrayBuffer[] {
  return report.type === 'finished' && report.rest ? [report.rest.buffer] : [];
}
