import { fileNameOf, formatBytes, type PlanAnswer, parseOriginUrl } from '@longhaul/shared';
import { ChainPicture } from './chain-picture.tsx';
import { commandLines } from './command-lines.ts';
import { CopyField } from './copy-field.tsx';
import { formatDuration } from './durations.ts';
import { htmlSnippet } from './html-snippet.ts';

const SIZE_SOURCES: Record<PlanAnswer['sizeSource'], string> = {
  option: 'as asked',
  reported: 'seen before',
  assumed: 'assumed',
};

/** A plan: the link to use, and what is predicted for it. */
export function PlanCard({ plan }: { readonly plan: PlanAnswer }) {
  const url = parseOriginUrl(plan.url);
  const name = url.ok ? fileNameOf(url.value) : plan.url;
  const host = url.ok ? url.value.host : '';
  return (
    <>
      <section class="card" aria-labelledby="link-title">
        <h2 id="link-title">Your link</h2>
        <p class="hint">It never expires: every request is planned anew.</p>
        <CopyField label="Accelerated link" text={plan.masterUrl} />
        <CopyField label="For your web page" text={htmlSnippet(plan.masterUrl, name)} />
        {commandLines('sh', plan.masterUrl, name).map(({ program, line }) => (
          <CopyField key={program} label={`With ${program}`} text={line} />
        ))}
        <a class="button" href={plan.masterUrl}>
          Download {name}
        </a>
      </section>
      <section class="card" aria-labelledby="plan-title">
        <h2 id="plan-title">{headline(plan)}</h2>
        <p class="hint">
          Predicted for {formatBytes(plan.sizeBytes)} ({SIZE_SOURCES[plan.sizeSource]}) from {host}.
        </p>
        <ChainPicture prediction={plan.prediction} />
        {plan.decision === 'chain' && <Comparison plan={plan} />}
        <details>
          <summary>Why this way?</summary>
          <ul class="reasons">
            {plan.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </details>
      </section>
    </>
  );
}

function headline(plan: PlanAnswer): string {
  const time = formatDuration(plan.prediction.seconds);
  if (plan.decision === 'direct') return `Direct: about ${time}, no chain would clearly win`;
  const gain = plan.direct.seconds / plan.prediction.seconds;
  if (gain < 1) return `Chosen chain: about ${time}`;
  return `About ${time}, ${gain >= 10 ? Math.round(gain) : gain.toFixed(1)} times faster than direct`;
}

function lanesOf({ lanes }: PlanAnswer): string {
  return lanes > 1 ? `, ${lanes} lanes` : '';
}

function Comparison({ plan }: { readonly plan: PlanAnswer }) {
  const longest = Math.max(plan.prediction.seconds, plan.direct.seconds);
  const rows = [
    {
      label: `${plan.chain.length} ${plan.chain.length === 1 ? 'depot' : 'depots'}${lanesOf(plan)}`,
      seconds: plan.prediction.seconds,
      kind: 'bar chain-bar',
    },
    { label: 'Direct', seconds: plan.direct.seconds, kind: 'bar' },
  ];
  return (
    <dl class="comparison">
      {rows.map(({ label, seconds, kind }) => (
        <div key={label} class="comparison-row">
          <dt>{label}</dt>
          <dd>
            <span
              class={kind}
              style={{ width: `${Math.max(1, (100 * seconds) / longest)}%` }}
              aria-hidden="true"
            />
            <span class="time">{formatDuration(seconds)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
