import { formatBps, type LegPrediction, type Prediction } from '@longhaul/shared';

interface ChainPictureProps {
  readonly prediction: Prediction;
}

const LIMITS: Record<LegPrediction['limit'], string> = {
  rate: 'limit: line',
  window: 'limit: window',
  loss: 'limit: loss',
};

/** The chain from the client to the origin; every leg with its round trip and rate, the slowest one marked. */
export function ChainPicture({ prediction }: ChainPictureProps) {
  return (
    <ol class="chain" aria-label="The way of the bytes, from you to the origin">
      <li class="stop end">you</li>
      {prediction.legs.map((leg) => {
        const slowest = prediction.legs.length > 1 && leg.goodputBps === prediction.goodputBps;
        return (
          <li key={leg.from} class="hop">
            <div class={slowest ? 'leg slowest' : 'leg'}>
              <strong>{formatBps(leg.goodputBps)}</strong>
              <span>{formatRtt(leg.rttMs)}</span>
              <span class="limit">{LIMITS[leg.limit]}</span>
            </div>
            <div class={leg.from === 'origin' ? 'stop end' : 'stop'}>{leg.from}</div>
          </li>
        );
      })}
    </ol>
  );
}

function formatRtt(rttMs: number): string {
  return `${rttMs < 10 ? rttMs.toFixed(1) : Math.round(rttMs)} ms RTT`;
}
