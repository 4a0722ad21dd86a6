import type { Network } from './network.ts';
import type { Flapping } from './topology.ts';

/** Cuts a link again and again from now on; `stop` leaves it whole. */
export function flapLink(
  { setLink }: Pick<Network, 'setLink'>,
  { link: [from, to], everyMs, downMs }: Flapping,
): { readonly stop: () => Promise<void> } {
  let isCut = false;
  let last = Promise.resolve();
  let timer: NodeJS.Timeout;
  const turn = () => {
    isCut = !isCut;
    timer = setTimeout(turn, isCut ? downMs : everyMs - downMs);
    const change = { isCut };
    last = last.then(() => setLink({ from, to, direction: 'both' }, change));
    // Who stops it hears of it.
    last.catch(() => undefined);
  };
  timer = setTimeout(turn, everyMs);
  return {
    stop: async () => {
      clearTimeout(timer);
      await last;
      if (isCut) await setLink({ from, to, direction: 'both' }, { isCut: false });
    },
  };
}
