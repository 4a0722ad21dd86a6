#!/usr/bin/env node
// `exec` for npm's scripts on Windows, whose shell has none: all other shells take their own, and the program takes the
// shell's place (decision 27).
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
// The Node that runs this is the one that npm has put first on the path.
const child = spawn(program === 'node' ? process.execPath : program, args, { stdio: 'inherit' });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
