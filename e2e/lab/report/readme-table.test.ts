import { expect, test } from 'vitest';
import { imaginedMatrix } from './imagined-results.ts';
import { readmeTable } from './readme-table.ts';

const { plan, lines } = imaginedMatrix(3);

test('the table names the strongest rival of each row, and marks the best whoever it is', () => {
  const variants = plan.variants.map((variant) => ({
    ...variant,
    clientConnections: variant.id === 'ranges8' ? 8 : variant.id === 'aria2-16' ? 16 : 1,
  }));
  const { table, leastTransfers } = readmeTable({ ...plan, variants }, lines, [
    ['loss0-limited', 'no loss, small buffer'],
    ['absent', 'never measured'],
  ]);
  const rows = table.split('\n').slice(2);
  expect(rows).toHaveLength(1);
  const [, path, direct, , , alike, strongest, auto] = (rows[0] ?? '').split('|').map((cell) => cell.trim());
  expect(path).toBe('no loss, small buffer');
  expect(direct).toMatch(/^\d+$/);
  expect(alike).toMatch(/^\d+ \((HAProxy|haproxy|nginx)/);
  expect(strongest).toMatch(/^\*\*\d+\*\* \(.*(aria2|ranges)/);
  expect(auto).not.toContain('**');
  expect(leastTransfers).toBe(3);
});
