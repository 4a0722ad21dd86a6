/** `npm run lab`: experiments over emulated links, and the pages made of their results. */
import { join, resolve } from 'node:path';
import { measureAnycast } from './anycast/anycast-command.ts';
import { type LabCommand, readCommandLine, USAGE } from './command-line.ts';
import { measureMasters } from './masters/masters-command.ts';
import { measureModel } from './model/model-command.ts';
import { obey } from './obey.ts';
import { reportResults } from './report-results.ts';
import { measureExperiment } from './run/run-command.ts';
import { type SelfTestCommand, testLab } from './self-test/self-test-command.ts';
import { simulate } from './simulation/sim-command.ts';
import { measureUnknown } from './unknown/unknown-command.ts';

/** Where results go when nobody says otherwise. */
const DEFAULT_FOLDER = join('.longhaul', 'lab');
await obey((interrupted) => carryOut(readCommandLine(process.argv.slice(2)), interrupted));

async function carryOut(command: LabCommand, interrupted: AbortSignal): Promise<void> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return;
    case 'report':
      return report(command.resultFiles, command.outFolder);
    case 'self-test':
      return showSelfTest(command);
    case 'sim':
      process.stdout.write(`${await simulate(command, DEFAULT_FOLDER, say, interrupted)}\n`);
      return;
    case 'anycast':
      process.stdout.write(`${await measureAnycast(command, DEFAULT_FOLDER, say)}\n`);
      return;
    case 'masters':
      process.stdout.write(`${await measureMasters(command, DEFAULT_FOLDER, say)}\n`);
      return;
    case 'unknown':
      process.stdout.write(`${await measureUnknown(command, DEFAULT_FOLDER, say, interrupted)}\n`);
      return;
    case 'model': {
      const page = await measureModel(command, DEFAULT_FOLDER, say, interrupted);
      if (page !== undefined) process.stdout.write(`${page}\n`);
      return;
    }
    case 'run': {
      const page = await measureExperiment(command, DEFAULT_FOLDER, say, interrupted);
      if (page !== undefined) process.stdout.write(`${page}\n`);
      return;
    }
  }
}

function report(resultFiles: readonly string[], outFolder: string | undefined): void {
  process.stdout.write(`${reportResults(resultFiles, resolve(outFolder ?? DEFAULT_FOLDER))}\n`);
}

async function showSelfTest(command: SelfTestCommand): Promise<void> {
  const show = (text: string) => void process.stdout.write(`${text}\n`);
  const { page, isWithin } = await testLab(command, DEFAULT_FOLDER, show);
  show(page);
  if (!isWithin) process.exitCode = 1;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
