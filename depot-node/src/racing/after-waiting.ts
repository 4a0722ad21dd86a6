/**
 * Acts when this time is over and what came in meanwhile has been read: timers come before sockets where the
 * event loop was busy for longer. Gives what calls it off.
 */
export function afterWaiting(timeMs: number, act: () => void): () => void {
  let afterReading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    afterReading = setImmediate(act);
  }, timeMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(afterReading);
  };
}
