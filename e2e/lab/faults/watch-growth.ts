import { statSync } from 'node:fs';

/** Between two looks at a file: half of the 20 ms within which a pause has to be known. */
const LOOK_INTERVAL_MS = 10;

/**
 * Tells how many bytes a file has, again and again while another process writes it; 0 before it exists. The function it
 * returns looks a last time and ends that.
 */
export function watchGrowth(file: string, onLook: (bytes: number, nowMs: number) => void): () => void {
  const look = () => onLook(statSync(file, { throwIfNoEntry: false })?.size ?? 0, performance.now());
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}
