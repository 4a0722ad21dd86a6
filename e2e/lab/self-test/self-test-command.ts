import { labObstacle } from '../requirements.ts';
import { describeTyped, placesOf } from '../results/open-run.ts';
import { openLineFile } from '../results/result-file.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { selfTest } from './self-test.ts';
import { SELF_TEST_NAME, selfTestLineSchema } from './self-test-line.ts';
import { writeSelfTestReport } from './write-self-test-report.ts';

export interface SelfTestCommand {
  readonly kind: 'self-test';
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

/** Holds the emulator's promises against this machine and tells of each; gives the path of its page. */
export async function testLab(
  { resultFile, outFolder }: SelfTestCommand,
  folder: string,
  say: (text: string) => void,
): Promise<{ readonly page: string; readonly isWithin: boolean }> {
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const places = placesOf({ resultFile, outFolder }, folder, 'self-test');
  const info = describeTyped({
    script: 'lab',
    experiment: SELF_TEST_NAME,
    planFingerprint: fingerprintOf([SELF_TEST_NAME, Date.now()]),
    options: { repeat: 1, seed: 1 },
  });
  const rows = await selfTest();
  for (const { check, expected, measured, isWithin } of rows)
    say(`${isWithin ? 'ok    ' : 'FAILED'} ${check}: expected ${expected}, measured ${measured}`);
  // Nothing goes on with it: there is a file when there is something in it.
  const result = openLineFile(places.resultFile, info, selfTestLineSchema);
  for (const row of rows) result.append(row);
  result.finish();
  const page = writeSelfTestReport(places.resultFile, places.outFolder);
  return { page, isWithin: rows.every(({ isWithin }) => isWithin) };
}
