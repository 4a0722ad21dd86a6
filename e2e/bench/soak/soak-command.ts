import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { runSoak } from './run-soak.ts';
import { soakLineSchema } from './soak-line.ts';
import { isBack, writeSoakReport } from './write-soak-report.ts';

export interface SoakCommand {
  readonly kind: 'soak';
  readonly seconds: number;
  readonly flows: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const SEED = 1;

/** Runs it and gives its page, and whether all bytes were right and the depots as they had been. */
export async function benchSoak(
  { seconds, flows, resultFile, outFolder }: SoakCommand,
  folder: string,
  say: (text: string) => void,
): Promise<{ readonly page: string; readonly isGood: boolean }> {
  const places = placesOf({ resultFile, outFolder }, folder, 'soak');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'soak',
    planFingerprint: fingerprintOf({ seconds, flows }),
    options: { repeat: 1, seed: SEED },
    schema: soakLineSchema,
  });
  const line = await runSoak({ seconds, flows, seed: SEED, onPhase: say });
  file.append(line);
  file.finish();
  const { page } = writeSoakReport(places);
  return { page, isGood: line.outcomes.wrong === 0 && line.depots.every(isBack) };
}
