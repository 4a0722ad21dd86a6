import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

let collect: Collect | undefined;

/**
 * Collects all garbage of this thread's heap and gives back the pages that it leaves empty; some 40 ms for a
 * depot's. By itself V8 keeps the room of new objects as large as it once was, which mostly is what loading
 * the sources took.
 */
export function compactHeap(): void {
  if (!collect) {
    // Node has no other way to it while a program runs, and a flag of the command line would bind whoever starts it.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type: 'major', flavor: 'last-resort' });
}
