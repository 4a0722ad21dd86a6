/** Stops this thread for so long, as a machine under load or a virtual one that is moved does. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
