import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const HERE = fileURLToPath(new URL('./descriptors-left.ts', import.meta.url));

/** Takes all descriptors that there are, and gives one of them back. */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs';
import { hasDescriptorLeft } from ${JSON.stringify(HERE)};
const said = [hasDescriptorLeft()];
let last;
try {
  for (;;) last = openSync('/dev/null', 'r');
} catch {
  said.push(hasDescriptorLeft());
}
closeSync(last);
said.push(hasDescriptorLeft(), hasDescriptorLeft());
process.stdout.write(said.join(' '));
`;

test.skipIf(process.platform === 'win32')('a process knows whether it has a descriptor left', () => {
  const command = 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"';
  const said = execFileSync('sh', ['-c', command, process.execPath, PROGRAM], { encoding: 'utf8' });
  expect(said).toBe('true false true true');
});
