import { ratioInterval } from '../../lab/report/numbers.ts';
import type { TargetOutcome } from '../../lab/report/report-plan.ts';
import { max, median, ratioOfMedians } from '../../lab/results/statistics.ts';
import type { CaseId } from '../cases/case-id.ts';
import type { CaseLine } from '../cases/case-line.ts';
import type { TargetRow } from './target-row.ts';

/** Whose figure a promise is about. */
interface Promised {
  readonly id: CaseId;
  readonly party?: string;
  readonly value: string;
}

/** A median held against another one, `first` times, and in the next step `later` times. */
interface RatioTarget extends Promised {
  readonly text: string;
  readonly against: Promised;
  readonly first: number;
  readonly later?: number;
  /** Whether more is better. */
  readonly isLeast?: boolean;
}

/** A median, or the worst of all runs, held against a number. */
interface BoundTarget extends Promised {
  readonly text: string;
  readonly bound: number;
  readonly unit: string;
  readonly isLeast?: boolean;
  readonly isWorst?: boolean;
}

const OURS = 'longhaul';
const ONE_CORE: readonly CaseId[] = ['tls-http-1', 'tls-http-64', 'tls-https-1', 'tls-https-64'];
/** Of nginx's CPU with TLS towards the client, by GB. */
const TLS_FIRST = 1.3;
const TLS_LATER = 1.1;
/** Of the CPU by GB of one core's relay, on all cores. */
const CORES_AT_MOST = 1.1;
/** Threads whose busiest has a quarter more than the next. */
const LEAST_SPREAD = 0.8;
/** Of nginx's handshakes by CPU second. */
const LEAST_HANDSHAKES = 0.8;
/** That a body rests while others shake hands, and that others wait while lanes are busy. */
const LONGEST_MS = 50;
/** CPU seconds by GB of the entry depot with lanes; later so many times one connection's. */
const LANES_FIRST = 1;
const LANES_LATER = 2;
/** CPU milliseconds of a depot for one small download. */
const BEGINNING_MS = 0.7;
const REST_MB = 80;

const RATIOS: readonly RatioTarget[] = [
  ...ONE_CORE.map(
    (id): RatioTarget => ({
      id,
      value: 'cpuSecondsPerGB',
      text: 'CPU by GB at most',
      against: { id, party: 'nginx', value: 'cpuSecondsPerGB' },
      first: TLS_FIRST,
      later: TLS_LATER,
    }),
  ),
  {
    id: 'tls-cores-64',
    value: 'cpuSecondsPerGB',
    text: 'CPU by GB at most',
    against: { id: 'tls-http-64', value: 'cpuSecondsPerGB' },
    first: CORES_AT_MOST,
  },
  ...(['handshakes-ecdsa', 'handshakes-rsa'] as const).flatMap((id) =>
    ['newPerCpuSecond', 'resumedPerCpuSecond'].map(
      (value): RatioTarget => ({
        id,
        value,
        text: `\`${value}\` at least`,
        against: { id, party: 'nginx', value },
        first: LEAST_HANDSHAKES,
        isLeast: true,
      }),
    ),
  ),
  ...['4 lanes', '8 lanes'].map(
    (party): RatioTarget => ({
      id: 'lanes',
      party,
      value: 'entryCpuSecondsPerGB',
      text: `${party}: CPU of the entry depot, later at most`,
      against: { id: 'lanes', party: 'one connection', value: 'entryCpuSecondsPerGB' },
      first: LANES_LATER,
    }),
  ),
];

const BOUNDS: readonly BoundTarget[] = [
  {
    id: 'tls-cores-64',
    value: 'busySpread',
    text: 'the second busiest thread has at least so much of the CPU time of the busiest:',
    bound: LEAST_SPREAD,
    unit: '',
    isLeast: true,
  },
  {
    id: 'handshakes-beside-body',
    value: 'longestMs',
    text: 'a body rests, in the median run, for at most',
    bound: LONGEST_MS,
    unit: ' ms',
  },
  ...['4 lanes', '8 lanes'].map(
    (party): BoundTarget => ({
      id: 'lanes',
      party,
      value: 'entryCpuSecondsPerGB',
      text: `${party}: CPU of the entry depot at most`,
      bound: LANES_FIRST,
      unit: ' s/GB',
    }),
  ),
  ...['healthWorstMs', 'firstByteWorstMs'].map(
    (value): BoundTarget => ({
      id: 'lanes-150',
      party: '4 lanes',
      value,
      text: `\`${value}\` in the worst run at most`,
      bound: LONGEST_MS,
      unit: ' ms',
      isWorst: true,
    }),
  ),
  ...(['entryCpuMs', 'middleCpuMs', 'exitCpuMs'] as const).map(
    (value): BoundTarget => ({
      id: 'beginnings-3',
      value,
      text: `\`${value}\` at most`,
      bound: BEGINNING_MS,
      unit: ' ms',
    }),
  ),
  {
    id: 'beginnings-1',
    value: 'entryCpuMs',
    text: '`entryCpuMs` at most',
    bound: BEGINNING_MS,
    unit: ' ms',
  },
  { id: 'at-rest', value: 'residentMB', text: 'resident at most', bound: REST_MB, unit: ' MB' },
];

const UNKNOWN: TargetOutcome = { measured: '', isMet: null };

/** The promises about cases of which there are runs, held against these. */
export function caseTargets(lines: readonly CaseLine[]): TargetRow[] {
  const valuesOf = ({ id, party = OURS, value }: Promised) =>
    lines
      .filter((line) => line.case === id && line.party === party)
      .flatMap(({ values }) => values[value] ?? []);
  const ratios = RATIOS.map((target): TargetRow => {
    const { id, text, against, first, later, isLeast = false } = target;
    const other = against.id === id ? `\`${against.party ?? OURS}\`` : `\`${against.id}\``;
    const estimate = ratioOfMedians(valuesOf(target), valuesOf(against));
    return {
      place: id,
      text: `${text} ${first} x ${other}${later === undefined ? '' : ` (then ${later})`}`,
      ...(estimate
        ? {
            measured: ratioInterval(estimate),
            isMet: isLeast ? estimate.value >= first : estimate.value <= first,
          }
        : UNKNOWN),
    };
  });
  const bounds = BOUNDS.map((target): TargetRow => {
    const { id, text, bound, unit, isLeast = false, isWorst = false } = target;
    const values = valuesOf(target);
    const value = isWorst ? max(values) : median(values);
    return {
      place: id,
      text: `${text} ${bound}${unit}`,
      ...(values.length > 0
        ? {
            measured: `${Number(value.toPrecision(3))}${unit}`,
            isMet: isLeast ? value >= bound : value <= bound,
          }
        : UNKNOWN),
    };
  });
  const measured = new Set<string>(lines.map((line) => line.case));
  return [...ratios, ...bounds].filter(({ place }) => measured.has(place));
}
