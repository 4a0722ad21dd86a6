import { markdownTable } from '../lab/report/markdown-table.ts';
import type { Attack } from './attack.ts';

/** What is tried, for docs/attacks.md. */
export function attackTable(attacks: readonly Attack[]): string {
  const rows = attacks.map(({ name, does, promise, worlds, quick }) => [
    `\`${name}\``,
    does,
    promise,
    worlds.map((world) => (quick.includes(world) ? `**${world}**` : world)).join(', '),
  ]);
  return markdownTable(['attack', 'what the attacker does', 'what holds', 'worlds'], rows, {
    textColumns: 4,
  });
}
