import type { PlanAnswer } from '@longhaul/shared';
import { ChainPicture } from './chain-picture.tsx';
import { formatDuration } from './durations.ts';
import { planWords } from './plan-words.ts';
import { Term } from './words.tsx';

/** What the master plans, what it predicts, and how well that is known. */
export function PlanCard({ plan }: { readonly plan: PlanAnswer }) {
  const { heading, claim, conditions } = planWords(plan);
  return (
    <section class="card" aria-labelledby="plan-title">
      <h2 id="plan-title">{heading}</h2>
      <p class="time-line">{claim}</p>
      {conditions.length > 0 && (
        <ul class="conditions">
          {conditions.map((condition) => (
            <li key={condition}>{condition}</li>
          ))}
        </ul>
      )}
      {plan.decision === 'chain' && <Comparison plan={plan} />}
      {plan.prediction.source !== 'assumed' || plan.decision === 'chain' ? (
        <ChainPicture prediction={plan.prediction} />
      ) : null}
      <details>
        <summary>Why this way?</summary>
        <ul class="reasons">
          {plan.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

/** The predicted times as bars; under which conditions they hold stands above. */
function Comparison({ plan: { chain, lanes, prediction, direct } }: { readonly plan: PlanAnswer }) {
  const longest = Math.max(prediction.seconds, direct.seconds);
  const bar = (seconds: number, kind: string) => (
    <dd>
      <span class={kind} style={{ width: `${Math.max(1, (100 * seconds) / longest)}%` }} aria-hidden="true" />
      <span class="time">{formatDuration(seconds)}</span>
    </dd>
  );
  return (
    <dl class="comparison" aria-label="Predicted times">
      <div class="comparison-row">
        <dt>
          {chain.length} <Term word="depot">{chain.length === 1 ? 'depot' : 'depots'}</Term>
          {lanes > 1 && (
            <>
              , {lanes} <Term word="lane">lanes</Term>
            </>
          )}
        </dt>
        {bar(prediction.seconds, 'bar chain-bar')}
      </div>
      <div class="comparison-row">
        <dt>
          <Term word="direct">Direct</Term>
        </dt>
        {bar(direct.seconds, 'bar')}
      </div>
    </dl>
  );
}
