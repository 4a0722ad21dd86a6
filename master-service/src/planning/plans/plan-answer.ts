import {
  formatGetPath,
  type LegEvidence,
  originHref,
  type PlanAnswer,
  type Prediction,
} from '@longhaul/shared';
import type { Place } from '../../prefixes/whereabouts.ts';
import type { Decided, DownloadRequest, IssuedPlan } from './issued-plan.ts';
import { describeSize } from './size-estimate.ts';

/** What is known of the leg on which `from` sends to `to`; `undefined` where nobody keeps it. */
export type EvidenceOf = (to: string, from: string) => LegEvidence | undefined;

/** All that speaks for a plan, for whoever asks why. */
export function answerOf(
  { url, options }: DownloadRequest,
  { size, client, route, signalling, group }: Decided,
  { jobId, location, lastStartSeconds, proxyTicket }: IssuedPlan,
  {
    publicUrl,
    origin,
    evidence,
    baseUrlOf,
    nowMs,
  }: {
    readonly publicUrl: string;
    /** The host that it was planned by. */
    readonly origin: string;
    readonly evidence: EvidenceOf;
    /** Where a depot is; `undefined` where it is not known any more. */
    readonly baseUrlOf: (depot: string) => string | undefined;
    /** By the clock of tickets. */
    readonly nowMs: number;
  },
): PlanAnswer {
  const toMeet = (route.toMeet ?? []).flatMap((id) => baseUrlOf(id) ?? []);
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
    prediction: withEvidence(route.prediction, evidence),
    direct: withEvidence(route.direct, evidence),
    reasons: [
      describeSize(size),
      ...describePlace(client),
      ...(origin === url.host ? [] : [leadsTo(url.host, origin)]),
      ...(size.isWholeOnly ? [WHOLE_ONLY] : []),
      ...route.reasons,
      ...signalling.reasons,
      ...(group ? [`Each depot of ${group.host} takes it: ${group.depots.join(', ')}.`] : []),
    ],
    ...(toMeet.length > 0 ? { toMeet } : {}),
    answeredAt: new Date(nowMs).toISOString(),
    startBefore: isoDate(lastStartSeconds),
    ...(proxyTicket && { ticket: proxyTicket.text, ticketEnds: isoDate(proxyTicket.endOfLife) }),
  };
}

function isoDate(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}

function withEvidence(prediction: Prediction, evidence: EvidenceOf): Prediction {
  const legs = prediction.legs.map((leg) => {
    // What is assumed, or derived from other legs, is known of nobody.
    const isKnown = leg.rttSource === 'measured' || leg.rttSource === 'configured';
    const known = isKnown ? evidence(leg.to, leg.from) : undefined;
    return known ? { ...leg, evidence: known } : leg;
  });
  return { ...prediction, legs };
}

const WHOLE_ONLY =
  'Its origin gives no parts of it: a chain that breaks fetches everything again, and how often depots fail is counted.';

function leadsTo(host: string, origin: string): string {
  return `Downloads from ${host} came from ${origin} of late: the plan goes by how far that is.`;
}

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
