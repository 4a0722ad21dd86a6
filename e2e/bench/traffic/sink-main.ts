/**
 * The benchmark's sink: a process that is told by messages what to take (`traffic-order.ts`), takes it in one
 * loop without looking at it, and reports. While it works it hears nothing else.
 */
import { openTrafficKernel } from './kernel.ts';
import { createSink } from './sink.ts';
import type { SinkOrder, SinkReport } from './traffic-order.ts';

const sink = createSink(await openTrafficKernel());

process.on('disconnect', () => process.exit());
process.on('message', (order: SinkOrder) => {
  process.send?.({ report: obey(order) });
});
process.send?.({ ready: { url: 'sink:' } });

function obey(order: SinkOrder): SinkReport {
  try {
    if (order.kind === 'take') return sink.take(order.order, order.verify);
    if (order.kind === 'hold') return sink.hold(order.order, order.takeBytes);
    sink.release();
    return { seconds: 0, receivedBytes: 0 };
  } catch (failure) {
    sink.release();
    return {
      seconds: 0,
      receivedBytes: 0,
      error: failure instanceof Error ? failure.message : String(failure),
    };
  }
}
