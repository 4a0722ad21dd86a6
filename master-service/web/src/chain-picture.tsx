import { type FigureSource, formatBps, type LegPrediction, ORIGIN, type Prediction } from '@longhaul/shared';
import { formatDuration } from './durations.ts';
import { Term, type Word } from './words.tsx';

interface ChainPictureProps {
  readonly prediction: Prediction;
}

const LIMITS: Record<LegPrediction['limit'], readonly [Word, string]> = {
  rate: ['line', 'limited by the line'],
  window: ['window', 'limited by the window'],
  loss: ['loss', 'limited by losses'],
};

/**
 * The chain from the client to the origin; every leg with its figures and how they are known, the slowest one
 * marked.
 */
export function ChainPicture({ prediction }: ChainPictureProps) {
  return (
    <ol class="chain" aria-label="The way of the bytes, from you to the origin">
      <li class="stop end">you</li>
      {prediction.legs.map((leg) => {
        const slowest = prediction.legs.length > 1 && leg.goodputBps === prediction.goodputBps;
        const [word, limit] = LIMITS[leg.limit];
        return (
          <li key={leg.from} class="hop">
            <div class={slowest ? 'leg slowest' : 'leg'}>
              <span class="rate">
                {slowest && <span class="mark">slowest</span>}
                <strong>{formatBps(leg.goodputBps)}</strong>
              </span>
              <span class="facts">
                <span>
                  {formatRtt(leg.rttMs)} <Term word="round-trip">round trip</Term>
                </span>
                <span>
                  <Term word={word}>{limit}</Term>
                </span>
                <LegSources leg={leg} />
              </span>
            </div>
            {leg.from === ORIGIN ? (
              <div class="stop end">
                <Term word="origin">origin</Term>
              </div>
            ) : (
              <div class="stop">{leg.from}</div>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const SOURCES: Record<FigureSource, readonly [Word, string]> = {
  measured: ['measured', 'measured'],
  configured: ['typed-in', 'typed in'],
  derived: ['worked-out', 'worked out'],
  assumed: ['assumed', 'assumed'],
};

function LegSources({ leg: { rttSource, goodputSource, measuredAgeMs } }: { readonly leg: LegPrediction }) {
  const age = measuredAgeMs === undefined ? '' : ` ${formatDuration(measuredAgeMs / 1000)} ago`;
  const source = (kind: FigureSource) => (
    <>
      <Term word={SOURCES[kind][0]}>{SOURCES[kind][1]}</Term>
      {kind === 'measured' && age}
    </>
  );
  if (rttSource === goodputSource) return <span>{source(rttSource)}</span>;
  return (
    <span>
      rate {source(goodputSource)}, round trip {source(rttSource)}
    </span>
  );
}

function formatRtt(rttMs: number): string {
  return `${rttMs < 10 ? rttMs.toFixed(1) : Math.round(rttMs)} ms`;
}
