import { expect, test } from 'vitest';
import { imaginedMatrix } from './imagined-results.ts';
import { busySentence } from './trust-section.ts';

const { lines } = imaginedMatrix(2);
const punctual = lines.map((line) => ({ ...line, load: 1.25, latenessMs: 0.1 }));

test('a table that is read alone says how busy the machine was, and how late packets were', () => {
  expect(busySentence(punctual)).toBe(
    'The machine’s load was 1.3 in the median meanwhile, and no packet left the emulator more than 10 ms late.',
  );
  const late = punctual.map((line, at) => ({ ...line, latenessMs: at === 0 ? 11 : 0.1 }));
  expect(busySentence(late)).toContain(
    `in 1 of ${late.length} transfers packets left the emulator more than 10 ms late: 0 to 1 of each repeat.`,
  );
});
