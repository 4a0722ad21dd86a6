import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Network } from '../network/network.ts';

/**
 * Programs of a network's hosts that find these names as DNS would tell them, each name with its address: in
 * mounts that only what is started so sees. Gives the command that starts another one.
 */
export function withNames(
  { folder }: Network,
  names: Readonly<Record<string, string>>,
): (command: readonly string[]) => readonly string[] {
  const hosts = join(folder, 'hosts');
  const lines = Object.entries({ localhost: '127.0.0.1', ...names }).map(
    ([name, address]) => `${address} ${name}\n`,
  );
  writeFileSync(hosts, lines.join(''));
  return (command) => ['sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hosts, ...command];
}
