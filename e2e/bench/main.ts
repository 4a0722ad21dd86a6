/** `npm run bench`: bytes through one relay on loopback, ours and others', and the page made of the result. */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Network } from '../lab/network/network.ts';
import { startNetwork } from '../lab/network/start-network.ts';
import { obey } from '../lab/obey.ts';
import { LabRefusal } from '../lab/refusal.ts';
import { findProgramFile, labObstacle } from '../lab/requirements.ts';
import { describeTyped, placesOf } from '../lab/results/open-run.ts';
import { openLineFile } from '../lab/results/result-file.ts';
import { fingerprintOf } from '../lab/results/run-info.ts';
import { benchBrowsers } from './browsers/browsers-command.ts';
import { ALL_CASES } from './cases/all-cases.ts';
import { caseLineSchema } from './cases/case-line.ts';
import { openCaseStage } from './cases/open-case-stage.ts';
import { type BenchCommand, readCommandLine, USAGE } from './command-line.ts';
import { benchFacts } from './facts/facts-command.ts';
import type { Bench } from './measure/measure-run.ts';
import { heldLineSchema, relayLineSchema } from './measure/relay-line.ts';
import { startTraffic } from './measure/traffic.ts';
import { verifyRelay } from './measure/verify-relay.ts';
import { benchOverload } from './overload/overload-command.ts';
import { benchPlanner } from './planner/planner-command.ts';
import { benchPrefixes } from './prefixes/prefixes-command.ts';
import { benchRedirect } from './redirect/redirect-command.ts';
import { type Relay, SITE } from './relays/relay.ts';
import { chooseRelays, SOURCE_PORT, startCapped, startRelays } from './relays/start-relays.ts';
import { writeRelayReport } from './report/write-relay-report.ts';
import { casesFileOf, heldFileOf } from './run/held-file.ts';
import { type BenchPlan, planBench } from './run/plan-bench.ts';
import { runBench } from './run/run-bench.ts';
import { type CasesRun, runCases } from './run/run-cases.ts';
import { benchSoak, type SoakCommand } from './soak/soak-command.ts';

/** Where results go when nobody says otherwise. */
const DEFAULT_FOLDER = join('.longhaul', 'bench');
await obey((interrupted) => carryOut(readCommandLine(process.argv.slice(2)), interrupted));

async function carryOut(command: BenchCommand, interrupted: AbortSignal): Promise<void> {
  if (command.kind === 'help') process.stdout.write(USAGE);
  else if (command.kind === 'report') report(command.resultFile, command.outFolder);
  else if (command.kind === 'soak') await soak(command);
  else if (command.kind === 'prefixes')
    process.stdout.write(`${await benchPrefixes(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else if (command.kind === 'planner')
    process.stdout.write(`${benchPlanner(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else if (command.kind === 'redirect')
    process.stdout.write(`${await benchRedirect(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else if (command.kind === 'overload')
    process.stdout.write(`${await benchOverload(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else if (command.kind === 'facts')
    process.stdout.write(`${await benchFacts(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else if (command.kind === 'browsers')
    process.stdout.write(`${await benchBrowsers(command, DEFAULT_FOLDER, say, interrupted)}\n`);
  else await run(command, interrupted);
}

async function soak(command: SoakCommand): Promise<void> {
  const { page, isGood } = await benchSoak(command, DEFAULT_FOLDER, say);
  process.stdout.write(`${page}\n`);
  if (!isGood) process.exitCode = 1;
}

async function run(
  command: Extract<BenchCommand, { kind: 'relay' }>,
  interrupted: AbortSignal,
): Promise<void> {
  const { options, relays: asked } = command;
  const choice = chooseRelays(asked);
  refuseMachine();
  const plan = planBench(options);
  const { resultFile: file, outFolder } = placesOf(command, DEFAULT_FOLDER, 'relay');
  const { congestionControl } = options;
  const network = await startNetwork(
    { name: 'one host', sites: { [SITE]: { role: 'client', congestionControl } }, links: [] },
    { seed: 0 },
  );
  try {
    for (const sentence of choice.absent) say(`left out, ${sentence}`);
    const wantsRelays = plan.loads.length > 0 || plan.held.length > 0;
    if (wantsRelays) say('starting the relays');
    const bench: Bench = {
      network,
      traffic: await startTraffic(network, SOURCE_PORT),
      sourcePort: SOURCE_PORT,
    };
    const started = wantsRelays ? await startRelays(choice.ids, network) : [];
    const { relays, absent } = await verified(bench, started, congestionControl, asked !== undefined);
    const isSpliced = relays.some(({ id }) => id === 'longhaul-splice');
    const holdsCapped = plan.held.some(({ held: kind }) => kind === 'capped');
    const capped = isSpliced && holdsCapped ? await startCapped(network) : undefined;
    const ids = relays.map(({ id }) => id);
    const info = describeTyped({
      script: 'bench',
      experiment: 'relay',
      planFingerprint: fingerprintOf({ plan, ids, congestionControl }),
      options: { repeat: plan.repeats, quick: options.quick, seed: 0 },
      notes: [
        `Congestion control of every socket, looked up with each relay: ${congestionControl}.`,
        ...[...choice.absent, ...absent].map((sentence) => `Left out, ${sentence}`),
      ],
      programs: choice.programs,
    });
    const runs = openLineFile(file, info, relayLineSchema);
    const held = openLineFile(heldFileOf(file), info, heldLineSchema);
    await runBench({ bench, relays, capped, plan, runs, held, say, signal: interrupted });
    const cases = openLineFile(casesFileOf(file), info, caseLineSchema);
    await measureCases(network, plan, options.quick, { file: cases, say, signal: interrupted });
    runs.finish();
    held.finish();
    cases.finish();
  } finally {
    await network.close();
  }
  report(file, outFolder);
}

async function measureCases(
  network: Network,
  { cases: wanted, repeats }: BenchPlan,
  isQuick: boolean,
  { file, say: tell, signal }: Pick<CasesRun, 'file' | 'say' | 'signal'>,
): Promise<void> {
  const cases = ALL_CASES.filter(({ id }) => wanted.includes(id));
  if (cases.length === 0) return;
  const stage = await openCaseStage(network, isQuick);
  await runCases({ stage, cases, repeats, file, say: tell, signal });
}

/** Leaves out a depot that does not relay as it should here; refuses when it was asked for by name. */
async function verified(
  bench: Bench,
  started: readonly Relay[],
  congestionControl: string,
  isAsked: boolean,
): Promise<{ readonly relays: readonly Relay[]; readonly absent: readonly string[] }> {
  const relays: Relay[] = [];
  const absent: string[] = [];
  for (const relay of started) {
    const obstacle = await verifyRelay(bench, relay, congestionControl);
    if (obstacle === undefined) relays.push(relay);
    else if (isAsked)
      throw new LabRefusal(
        'lab-needs-program',
        `${relay.id} cannot be measured, ${obstacle}: see that koffi is installed (npm install), or leave it out of --relays.`,
      );
    else absent.push(`\`${relay.id}\`: ${obstacle}.`);
  }
  for (const sentence of absent) say(`left out, ${sentence}`);
  return { relays, absent };
}

function refuseMachine(): void {
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  if (availableParallelism() < 2)
    throw new LabRefusal(
      'lab-input-invalid',
      'The relay has a core of its own, source and sink another: give this machine two.',
    );
  if (!findProgramFile('taskset'))
    throw new LabRefusal(
      'lab-needs-program',
      "There is no program 'taskset': install the package util-linux.",
    );
}

function report(resultFile: string, outFolder: string | undefined): void {
  const { page } = writeRelayReport({ resultFile, outFolder: resolve(outFolder ?? DEFAULT_FOLDER) });
  process.stdout.write(`${page}\n`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
