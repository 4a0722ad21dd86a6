// Plain JavaScript that any Node can load: it stands at the head of programs, before what takes a second to load.
import { isatty } from 'node:tty';

/** Standard input, output and error. */
const STANDARD_STREAMS = [0, 1, 2];

let terminals = [];
let noted;

function note() {
  noted = { isOfTerminal: terminals.some((descriptor) => !isatty(descriptor)) };
}

/** Takes note of a hang-up from now on in place of ending by it, until `takeHangUps`. */
export function noteHangUps() {
  terminals = STANDARD_STREAMS.filter((descriptor) => isatty(descriptor));
  process.on('SIGHUP', note);
}

/**
 * Whether one has come, and whether with the end of the terminal; those that come later mean again what they
 * mean by themselves.
 */
export function takeHangUps() {
  process.off('SIGHUP', note);
  const taken = noted;
  noted = undefined;
  return taken;
}
