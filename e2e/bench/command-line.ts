import { CONGESTION_CONTROL_NAMES, CONGESTION_CONTROLS, USUAL_CONGESTION_CONTROL } from '@longhaul/shared';
import { listOf, readCommand, refusal, refusalOf, refuseMistakes, wholeNumber } from '../lab/options.ts';
import { type BrowsersCommand, readBrowsersCommand } from './browsers/browsers-command.ts';
import { CASE_ACCOUNTS, CASE_IDS, SELECTABLE_IDS, selectCases } from './cases/case-id.ts';
import { type FactsCommand, readFactsCommand } from './facts/facts-command.ts';
import { type OverloadCommand, readOverloadCommand } from './overload/overload-command.ts';
import { type PlannerCommand, readPlannerCommand } from './planner/planner-command.ts';
import { type PrefixesCommand, readPrefixesCommand } from './prefixes/prefixes-command.ts';
import { type RedirectCommand, readRedirectCommand } from './redirect/redirect-command.ts';
import { RELAY_IDS, RELAY_LABELS, type RelayId } from './relays/relay-id.ts';
import type { BenchOptions } from './run/plan-bench.ts';
import type { SoakCommand } from './soak/soak-command.ts';

export type BenchCommand =
  | { readonly kind: 'help' }
  | PrefixesCommand
  | PlannerCommand
  | RedirectCommand
  | OverloadCommand
  | FactsCommand
  | BrowsersCommand
  | SoakCommand
  | { readonly kind: 'report'; readonly resultFile: string; readonly outFolder: string | undefined }
  | {
      readonly kind: 'relay';
      readonly options: BenchOptions;
      /** Undefined: all that are installed. */
      readonly relays: readonly RelayId[] | undefined;
      readonly resultFile: string | undefined;
      readonly outFolder: string | undefined;
    };

/** Who paces sends at a rate of its own, which hides what the relay can do. */
const UNPACED = CONGESTION_CONTROL_NAMES.filter((name) => !CONGESTION_CONTROLS[name].isPaced);

const OPTIONS = {
  quick: { type: 'boolean' },
  repeat: { type: 'string' },
  flows: { type: 'string' },
  relays: { type: 'string' },
  cases: { type: 'string' },
  congestion: { type: 'string' },
  minutes: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const USAGE = `Usage: npm run bench -- relay [options]
       npm run bench -- report <result file> [--out folder]
       npm run bench -- soak [--minutes n] [--flows n] [--json file] [--out folder]
       npm run bench -- planner [--cases a,b] [--repeat n] [--seed n] [--json file] [--out folder]
       npm run bench -- redirect [--cases a,b] [--repeat n] [--requests n] [--json file] [--out folder]
       npm run bench -- overload [--connections a,b] [--repeat n] [--seconds n] [--json file] [--out folder]
       npm run bench -- facts [--depots n] [--links n] [--repeat n] [--seconds n] [--warm-up n] [--json file] [--out folder]
       npm run bench -- browsers [--browsers a,b] [--cases a,b] [--repeat n] [--seed n] [--json file] [--out folder]
       npm run bench -- prefixes [--prefixes n] [--repeat n] [--seed n] [--json file] [--out folder]

relay: what bytes, handshakes, beginnings and rest cost on loopback; ours and others, one after the other.
soak:  many downloads at once (default 200 for 10 minutes) that leave, pause and finish; what depots hold afterwards.
planner: how long one plan takes over 50 to 1000 depots (default ten overlays of each kind).
redirect: CPU time of a redirect, over HTTP and TLS (default seven times 40000), a master's, nginx's and Node's.
overload: what becomes of twice as many requests as a master can plan (default five times 10 s).
facts: CPU time of masters that share the reports of 1000 depots with 20 links each, every second (default three times 30 s), and joining late.
browsers: forty downloads in Chromium and Firefox, with the add-on and without it (default three times, half an hour).
prefixes: memory and look-ups of a table of prefixes (default 1000000 five times), ours and others.

Options of relay:
  --quick           fewer repeats and bytes: a look in some minutes, in less than one with --cases
  --repeat n        runs of each relay at each number of flows (default 5)
  --flows a,b       numbers of flows (default 1,8,64,1000)
  --relays a,b      only these (default all that are installed)
  --cases a,b       only these (default all), or all whose names begin so: tls, handshakes, beginnings
  --congestion c    ${UNPACED.join(' or ')}, for all parties (default ${USUAL_CONGESTION_CONTROL})
  --json file       one line of JSON per run; an interrupted benchmark goes on when the same command is given again
  --out folder      where the result and its report go (default .longhaul/bench)

Cases:
  bodies                  plain bodies through each relay, with --flows and --relays
  rest                    flows through each relay of which nothing comes, or that nobody reads
${CASE_IDS.map((id) => `  ${id.padEnd(23)} ${CASE_ACCOUNTS[id].title}`).join('\n')}

Relays:
${RELAY_IDS.map((id) => `  ${id.padEnd(17)} ${RELAY_LABELS[id]}`).join('\n')}
`;

/** More than this no relay here is configured for. */
const MOST_FLOWS = 1000;

/** Long enough for a leak of one descriptor in a thousand downloads to show. */
const SOAK_MINUTES = 10;
const SOAK_FLOWS = 200;

/** Reads what is asked for. Throws `lab-input-invalid` that lists every mistake. */
export function readCommandLine(args: readonly string[]): BenchCommand {
  if (args[0] === 'prefixes' && !args.includes('--help')) return readPrefixesCommand(args.slice(1));
  if (args[0] === 'redirect' && !args.includes('--help')) return readRedirectCommand(args.slice(1));
  if (args[0] === 'overload' && !args.includes('--help')) return readOverloadCommand(args.slice(1));
  if (args[0] === 'browsers' && !args.includes('--help')) return readBrowsersCommand(args.slice(1));
  if (args[0] === 'facts' && !args.includes('--help')) return readFactsCommand(args.slice(1));
  if (args[0] === 'planner' && !args.includes('--help')) return readPlannerCommand(args.slice(1));
  const { values, names, mistakes } = readCommand(args, OPTIONS, 'bench', 1);
  const [name, ...rest] = names;
  if (values.help || (name === undefined && args.length === 0)) return { kind: 'help' };
  if (name === 'report') {
    const [resultFile] = rest;
    if (resultFile === undefined || rest.length > 1)
      throw refusal('report needs one result file: npm run bench -- report <result file>');
    return { kind: 'report', resultFile, outFolder: values.out };
  }
  if (name !== 'relay' && name !== 'soak')
    mistakes.unshift(
      name === undefined
        ? 'no benchmark is named: relay, soak, prefixes, planner, redirect, overload, facts or browsers'
        : `there is no benchmark '${name}'; choose relay, soak, prefixes, planner, redirect, overload, facts or browsers`,
    );
  const whole = (option: string, text: string, most: number) =>
    wholeNumber({ option, text, least: 1, most }, mistakes);
  if (name === 'soak') {
    const minutes = values.minutes === undefined ? SOAK_MINUTES : whole('minutes', values.minutes, 1440);
    const flows = values.flows === undefined ? SOAK_FLOWS : whole('flows', values.flows, MOST_FLOWS);
    refuseMistakes(mistakes);
    return { kind: 'soak', seconds: minutes * 60, flows, resultFile: values.json, outFolder: values.out };
  }
  const repeats = values.repeat === undefined ? undefined : whole('repeat', values.repeat, 1000);
  const flows = listOf(values.flows)?.map((text) => whole('flows', text, MOST_FLOWS));
  const relays = listOf(values.relays)?.flatMap(
    (id) => RELAY_IDS.find((known) => known === id) ?? mistake(id),
  );
  function mistake(id: string): [] {
    mistakes.push(`there is no relay '${id}'; choose from ${RELAY_IDS.join(', ')}`);
    return [];
  }
  const cases = listOf(values.cases)?.flatMap((name) => {
    const chosen = selectCases(name);
    if (chosen.length === 0)
      mistakes.push(`there is no case '${name}'; choose from ${SELECTABLE_IDS.join(', ')}`);
    return chosen;
  });
  const { congestion = USUAL_CONGESTION_CONTROL } = values;
  const congestionControl = UNPACED.find((name) => name === congestion);
  if (!congestionControl)
    mistakes.push(
      `--congestion ${congestion} must be ${UNPACED.join(' or ')}: others pace, and that hides the relay`,
    );
  if (!congestionControl || mistakes.length > 0) throw refusalOf(mistakes);
  return {
    kind: 'relay',
    options: {
      quick: values.quick ?? false,
      congestionControl,
      ...(repeats === undefined ? {} : { repeats }),
      ...(flows ? { flows: [...new Set(flows)] } : {}),
      ...(cases ? { cases } : {}),
    },
    relays,
    resultFile: values.json,
    outFolder: values.out,
  };
}
