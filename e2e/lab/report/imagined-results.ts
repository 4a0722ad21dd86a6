import { join } from 'node:path';
import { RandomStream } from '../emulator/random-stream.ts';
import { openResultFile } from '../results/result-file.ts';
import { describeRun, type RunInfo } from '../results/run-info.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import type { ReportPlan, ReportScenario, ReportVariant } from './report-plan.ts';

/** For tests only: a plan with imagined lines, as wide as a real one. Nothing of this was measured. */
export interface Imagined {
  readonly plan: ReportPlan;
  readonly lines: readonly TransferLine[];
}

const SIZE_BYTES = 31_457_280;
const BOUND_BPS = 88.7e6;

const variant = (id: string, label: string, isLonghaul = false): ReportVariant => ({ id, label, isLonghaul });

/** Lines whose goodput spreads around `typicalMbps`. */
function imagine(
  plan: ReportPlan,
  repeats: number,
  typicalMbps: (scenario: ReportScenario, variant: string) => number | undefined,
  extra: (variant: string, random: () => number) => Partial<TransferLine> = () => ({}),
): Imagined {
  const stream = new RandomStream('imagined');
  const random = () => stream.next();
  const lines = plan.scenarios.flatMap((scenario) =>
    Array.from({ length: repeats }).flatMap((_, at) =>
      plan.variants.flatMap(({ id }): TransferLine[] => {
        const typical = typicalMbps(scenario, id);
        if (typical === undefined) return [];
        const goodputBps = typical * 1e6 * (0.85 + 0.25 * random());
        const seconds = (SIZE_BYTES * 8) / goodputBps;
        const isCut = seconds > 12;
        return [
          {
            experiment: plan.kind,
            scenario: scenario.id,
            variant: id,
            repeat: at + 1,
            seed: 100 + at,
            sizeBytes: SIZE_BYTES,
            seconds: isCut ? 12 : seconds,
            goodputBps,
            ttfbMs: 200 + 10 * random(),
            sha256Ok: isCut ? null : true,
            latenessMs: random() < 0.15 ? 10 + 50 * random() : 2 * random(),
            load: 1 + random(),
            ...(isCut ? { cut: true, prefixOk: true, receivedBytes: Math.round(goodputBps * 1.5) } : {}),
            ...extra(id, random),
          },
        ];
      }),
    ),
  );
  return { plan, lines };
}

const MATRIX_MBPS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'loss0-big': {
    direct: 76,
    ranges8: 60,
    'aria2-16': 62,
    haproxy3: 78,
    nginx3: 71,
    'chain1-far': 76,
    chain3: 76,
    auto: 75,
  },
  'loss1e-3-big': {
    direct: 9,
    ranges8: 38,
    'aria2-16': 45,
    haproxy3: 43,
    nginx3: 20,
    'chain1-far': 72,
    chain3: 74,
    auto: 79,
  },
  'loss1e-2-big': {
    direct: 2,
    ranges8: 15,
    'aria2-16': 26,
    haproxy3: 9,
    nginx3: 4.1,
    'chain1-far': 14,
    chain3: 13,
    'chain3-lanes8': 55,
    auto: 70,
  },
  'loss0-limited': {
    direct: 12,
    ranges8: 67,
    'aria2-16': 75,
    haproxy3: 55,
    nginx3: 50,
    'chain1-far': 15,
    chain3: 56,
    auto: 57,
  },
  'loss0-big-bbr': {
    direct: 74,
    ranges8: 60,
    'aria2-16': 58,
    haproxy3: 60,
    nginx3: 58,
    'chain1-far': 60,
    chain3: 55,
    auto: 73,
  },
};

export function imaginedMatrix(repeats = 5): Imagined {
  const plan: ReportPlan = {
    kind: 'matrix',
    title: 'Downloads over an imagined WAN',
    question:
      'How much faster does a file arrive through a chain of depots than over one connection, and than by the rivals?',
    method: [
      '4 links of 20/30/30/20 ms round trip, 100 Mbit/s, queue 625 kB',
      'Depots send with bbr, all others with cubic',
    ],
    scenarios: [
      ['loss0-big', 'no loss, large buffer'],
      ['loss1e-3-big', 'loss 1e-3, large buffer'],
      ['loss1e-2-big', 'loss 1e-2, large buffer'],
      ['loss0-limited', 'no loss, limited buffer'],
      ['loss0-big-bbr', 'no loss, large buffer, origin on bbr'],
      ['loss1e-3-big-tls', 'loss 1e-3, large buffer, https'],
    ].map(([id = '', label = '']) => ({ id, label, boundBps: BOUND_BPS })),
    variants: [
      variant('direct', 'direct'),
      variant('ranges8', '8 plain ranges'),
      variant('aria2-16', 'aria2, 16 connections'),
      variant('haproxy3', 'HAProxy at 3 sites'),
      variant('nginx3', 'nginx at 3 sites'),
      variant('chain1-far', '1 depot, far', true),
      variant('chain3', '3 depots', true),
      { ...variant('chain3-lanes8', '3 depots, 8 lanes', true), baseline: 'chain3' },
      variant('auto', 'planned', true),
    ],
    targets: [
      {
        scenario: 'loss1e-3-big',
        text: 'at least 5 × direct',
        check: () => ({ measured: '8.8 [7.9–9.6]', isMet: true }),
      },
      {
        scenario: 'loss0-big',
        text: 'at least 1.05 × direct',
        check: () => ({ measured: '0.99 [0.95–1.08]', isMet: false }),
      },
      {
        scenario: 'loss1e-3-big-tls',
        text: 'at least 3 × direct',
        check: () => ({ measured: '', isMet: null }),
      },
    ],
  };
  return imagine(
    plan,
    repeats,
    ({ id }, name) => MATRIX_MBPS[id]?.[name],
    (id) => (id === 'auto' ? { chain: ['near', 'middle', 'far'] } : {}),
  );
}

export function imaginedRnp(repeats = 30): Imagined {
  const places = ['UFCG from UFRJ', 'UFSC from PoP-MG', 'UFRJ from UFPR'];
  const levels = [0, 1, 2, 4, 8, 16];
  const plan: ReportPlan = {
    kind: 'rnp',
    title: "The paper's three places, imagined",
    question: 'What do one and two depots bring at quiet and at busy hours?',
    method: ['Six sites, small client buffer'],
    scenarios: places.flatMap((group, place) =>
      levels.map((level) => ({
        id: `place${place + 1}-${level}`,
        label: `${group}, ${level} flows`,
        group,
        level,
        boundBps: 90e6,
      })),
    ),
    variants: [
      variant('direct', 'direct'),
      variant('depots1', '1 depot', true),
      variant('depots2', '2 depots', true),
      variant('auto', 'planned', true),
    ],
  };
  const best: Readonly<Record<string, number>> = { direct: 22, depots1: 70, depots2: 66, auto: 70.5 };
  return imagine(plan, repeats, ({ level = 0, group }, name) => {
    const quiet = group === places[2] ? 82 : (best[name] ?? 0);
    return quiet / (1 + level / (name === 'depots2' ? 12 : 8));
  });
}

export function imaginedSplit(repeats = 6): Imagined {
  const settings = {
    'clean-far': [6, 11],
    'lossy-far': [1.3, 1.4],
    'two-halves': [1.6, 3.3],
    clean: [19, 16],
  } as const;
  const plan: ReportPlan = {
    kind: 'split',
    title: 'Connection splitting, imagined',
    question: 'Where does a chain of two connections pay, and does the model know?',
    method: ['Two links with one depot between them'],
    scenarios: ['cubic', 'bbr'].flatMap((group) =>
      Object.entries(settings).map(([id, [direct, split]]) => ({
        id: `${id}-20M-${group}`,
        label: `${id} at 20 Mbit/s, ${group}`,
        group,
        predictedBps: { direct: direct * 1.1e6, split: split * 1.3e6 },
      })),
    ),
    variants: [
      variant('direct', 'direct'),
      variant('split', '1 depot', true),
      variant('auto', 'planned', true),
    ],
  };
  return imagine(
    plan,
    repeats,
    ({ id }, name) => {
      const [direct, split] = Object.entries(settings).find(([key]) => id.startsWith(`${key}-20M`))?.[1] ?? [
        0, 0,
      ];
      return name === 'direct' ? direct : name === 'split' ? split : Math.max(direct, split);
    },
    (id, random) => (id === 'auto' ? { chain: random() < 0.3 ? [] : ['middle'] } : {}),
  );
}

export function imaginedSignalling(repeats = 10): Imagined {
  const firstByteMs: Readonly<Record<string, number>> = {
    direct: 201,
    cascade0: 222,
    cascade1: 224,
    cascade2: 283,
    cascade3: 284,
  };
  const ids = Object.keys(firstByteMs);
  const plan: ReportPlan = {
    kind: 'signalling',
    title: 'Signalling, imagined',
    question: 'When does the first byte arrive?',
    method: ['4 links of 20/30/30/20 ms round trip'],
    scenarios: ['http', 'https'].map((scheme) => ({
      id: `${scheme}-cold`,
      label: `${scheme}, everything cold`,
      rttMs: 100,
      predictedMs: Object.fromEntries(ids.map((id) => [id, (firstByteMs[id] ?? 0) - 4])),
    })),
    variants: ids.map((id, at) =>
      variant(id, id === 'direct' ? id : `cascade, ${at - 1} depots`, id !== 'direct'),
    ),
  };
  return imagine(
    plan,
    repeats,
    () => 2.1,
    (id, random) => {
      const ttfbMs = (firstByteMs[id] ?? 0) + 6 * random();
      return {
        ttfbMs,
        setUpMs: ttfbMs - 100,
        seconds: ttfbMs / 1000,
        sizeBytes: 1000,
        sha256Ok: true,
        cut: undefined,
        prefixOk: undefined,
      };
    },
  );
}

export function imaginedFailover(repeats = 3): Imagined {
  const faults = ['fin', 'rst', 'silence'] as const;
  const positions = ['first', 'middle', 'last'] as const;
  const plan: ReportPlan = {
    kind: 'failover',
    title: 'Failover, imagined',
    question: 'Does the download go on?',
    method: ['4 links of 20/30/30/20 ms round trip'],
    scenarios: positions.map((id) => ({ id, label: `the ${id} depot breaks` })),
    variants: [
      variant('undisturbed', 'undisturbed', true),
      ...faults.map((fault) => variant(`${fault}-50`, `${fault} at 50 %`, true)),
    ],
  };
  const imagined = imagine(
    plan,
    repeats,
    () => 70,
    (id, random) => {
      const fault = faults.find((known) => id.startsWith(known));
      const pauseMs = (fault === 'silence' ? 5200 : 200) + 50 * random();
      return fault ? { fault, atPercent: 50, pauseMs, attempts: 1 } : {};
    },
  );
  const lines = imagined.lines.map((line) => {
    const position = positions.find((id) => id === line.scenario);
    return line.fault && position ? { ...line, position, attempts: position === 'first' ? 4 : 1 } : line;
  });
  return { plan, lines };
}

/** Puts imagined lines into a finished result below `folder`; `info` is what its description says otherwise. */
export function imaginedFile(
  folder: string,
  { plan, lines }: Imagined,
  options: { readonly isFinished?: boolean; readonly name?: string; readonly info?: Partial<RunInfo> } = {},
): string {
  const { isFinished = true, name = plan.kind, info } = options;
  const file = join(folder, `${name}.jsonl`);
  const described = describeRun(
    {
      experiment: plan.kind,
      planFingerprint: plan.kind,
      command: `npm run lab -- ${plan.kind} --json ${name}.jsonl`,
      options: { repeat: 5, quick: false, cutSeconds: 12, seed: 1 },
      programs: [],
    },
    new Date('2026-01-02T03:04:05Z'),
  );
  const result = openResultFile(file, { ...described, otherLabs: undefined, ...info });
  for (const line of lines) result.append(line);
  if (isFinished) result.finish(new Date('2026-01-02T04:05:06Z'));
  else result.close();
  return file;
}
