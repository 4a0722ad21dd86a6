import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Kernel, openKernel, openOpenSsl } from '../kernel/open-kernel.ts';
import { compactHeap } from '../memory/compact-heap.ts';
import { type TlsTrial, tryOpenSsl } from '../tls/self-test.ts';
import { Mail } from './mail.ts';
import { runRelayLoop } from './relay-loop.ts';
import type { ThreadCommand, ThreadReport } from './thread-message.ts';

/** What a relay thread is started with. */
export interface RelayWorkerData {
  readonly port: MessagePort;
  readonly waker: number;
  readonly mail: SharedArrayBuffer;
  /**
   * What it tries OpenSSL with, made by the main thread: what makes it need not be loaded here. Left out, it
   * ends no TLS.
   */
  readonly tls: TlsTrial | undefined;
}

const { port, waker, mail, tls } = workerData as RelayWorkerData;
const access = openKernel();
if (!access.kernel) throw new Error(access.reason);
const { kernel } = access;
runRelayLoop({
  kernel,
  waker,
  mail: new Mail(mail),
  ...(tls ? openTls(kernel, tls) : { openSsl: undefined, whyNoTls: undefined }),
  // The thread never returns to its event loop, so messages are fetched.
  nextCommand: () => receiveMessageOnPort(port)?.message as ThreadCommand | undefined,
  report: (report: ThreadReport) => port.postMessage(report, transferOf(report)),
  nowMs: () => performance.now(),
  compactHeap: () => {
    compactHeap();
    kernel.trimHeap();
  },
});
port.close();

/** OpenSSL, once it has worked with itself. */
function openTls(kernel: Kernel, trial: TlsTrial) {
  try {
    const openSsl = openOpenSsl();
    tryOpenSsl({ kernel, openSsl }, trial);
    return { openSsl, whyNoTls: undefined };
  } catch (failure) {
    return { openSsl: undefined, whyNoTls: failure instanceof Error ? failure.message : String(failure) };
  }
}

function transferOf(report: ThreadReport): ArrayBuffer[] {
  return report.type === 'finished' && report.rest ? [report.rest.buffer] : [];
}
