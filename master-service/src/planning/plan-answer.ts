import { formatGetPath, originHref, type PlanAnswer } from '@longhaul/shared';
import type { Place } from '../prefixes/whereabouts.ts';
import type { Decided, DownloadRequest, IssuedPlan } from './issued-plan.ts';
import { describeSize } from './size-estimate.ts';

/** All that speaks for a plan, for whoever asks why. */
export function answerOf(
  { url, options }: DownloadRequest,
  { size, client, route, signalling }: Decided,
  { jobId, location, lastStartSeconds, proxyTicket }: IssuedPlan,
  publicUrl: string,
): PlanAnswer {
  return {
    jobId,
    url: originHref(url),
    decision: route.decision,
    decisionReason: route.decisionReason,
    location,
    masterUrl: `${publicUrl}${formatGetPath(url, options)}`,
    chain: [...route.chain],
    alternatives: route.alternatives.map((chain) => [...chain]),
    lanes: route.lanes,
    sizeBytes: size.sizeBytes,
    sizeSource: size.source,
    fileSeen: size.fileSeen,
    prediction: route.prediction,
    direct: route.direct,
    reasons: [
      describeSize(size),
      ...describePlace(client),
      ...(size.isWholeOnly ? [WHOLE_ONLY] : []),
      ...route.reasons,
      ...signalling.reasons,
    ],
    startBefore: new Date(lastStartSeconds * 1000).toISOString(),
    ...(proxyTicket === undefined ? {} : { ticket: proxyTicket }),
  };
}

const WHOLE_ONLY =
  'Its origin gives no parts of it: a chain that breaks fetches everything again, and how often depots fail is counted.';

/** Nothing where nothing but the question itself tells where the client is: that is so without any table. */
function describePlace({ site }: Place): string[] {
  if (!site || site.rule === 'asked') return [];
  return [`The client counts as one of the site ${site.name}, ${SITE_RULE_WORDS[site.rule]}.`];
}

const SITE_RULE_WORDS = {
  coverage: 'as the operator says of its network',
  measured: 'as measurements say of its network',
  'as-coverage': 'as the operator says of its autonomous system',
};
