import { type Chain, clientPrefix } from '@longhaul/shared';
import type { MasterConfig } from './config.ts';
import type { AskDepot } from './depots/ask-depot.ts';
import { DEPOT_FACTS, DEPOT_HEARD } from './depots/depot-facts.ts';
import { DepotMoves } from './depots/depot-moves.ts';
import { DownChecks } from './depots/down-checks.ts';
import { LegAsker } from './depots/leg-asker.ts';
import { PlanTeller } from './depots/plan-teller.ts';
import { type SentClient, WayTeller } from './depots/way-teller.ts';
import { ENROLMENT_FACTS } from './enrolment/enrolment-facts.ts';
import type { EmitEvent } from './events.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Knowledge } from './knowledge.ts';
import { OriginProbes } from './measuring/origin-probes.ts';
import { ClientMarks } from './outcomes/client-marks.ts';
import { OutcomeBook } from './outcomes/outcome-book.ts';
import { RecentJobs } from './outcomes/recent-jobs.ts';
import { Planner } from './planning/decision/planner.ts';
import { linkEvidence } from './planning/links/link-evidence.ts';
import { JobLegs } from './planning/plans/job-legs.ts';
import { PlanService } from './planning/plans/plan-service.ts';
import { DownloadPolicy } from './policy/download-policy.ts';
import type { OverlayPlaces } from './policy/overlay-places.ts';
import type { WhereaboutsLookUp } from './prefixes/whereabouts.ts';
import type { EntryGroups } from './tickets/entry-groups.ts';
import { TicketIssuer } from './tickets/ticket-issuer.ts';

interface DownloadsInit {
  readonly config: MasterConfig;
  readonly knowledge: Knowledge;
  readonly keys: KeyRing;
  readonly overlay: OverlayPlaces;
  readonly groups: EntryGroups;
  readonly whereabouts: WhereaboutsLookUp;
  readonly ask: AskDepot;
  /** PEM: who vouches for depots' certificates beside the usual ones. */
  readonly authorities: readonly string[];
  readonly publicUrl: () => string;
  readonly now: () => number;
  /** Milliseconds by a clock that is never set. */
  readonly steadyMs: () => number;
  /** 0 to below 1, evenly; left out, by chance. */
  readonly random: (() => number) | undefined;
  readonly emit: EmitEvent;
}

export type Downloads = ReturnType<typeof createDownloads>;

/** Plans downloads by what is known, tells their depots, and takes in what came of them. */
export function createDownloads(init: DownloadsInit) {
  const { config, knowledge, keys, overlay, groups, now, random, emit } = init;
  const { facts, masters, registry, links, clients, aliases, origins, ends, sizes, caps, wishes } = knowledge;
  const { calibrations, ways, leads, unreachedOrigins } = knowledge;
  const policy = new DownloadPolicy({ ...config, overlay });
  const planner = new Planner(config.planner, links, ends);
  const tickets = new TicketIssuer(config.tickets, keys, groups, (keyId) => masters.verifier(keyId));
  const line = { signer: keys, registry, now };
  const plansTold = new PlanTeller(line);
  const waysTold = new WayTeller(line, init.authorities, (outcome) => emit({ type: 'client-told', outcome }));
  const legAsker = new LegAsker(line);
  const downChecks = new DownChecks({
    registry,
    ask: init.ask,
    now,
    emit,
    onUnreached: (depot, other, nowMs) => {
      if (links.unreached.noteUnreached(depot, other, nowMs)) emit({ type: 'depot-unreached', depot, other });
    },
  });
  const forgetFrom = (depot: string) => {
    for (const table of [links, clients, aliases, origins, ways, leads]) table.forgetFrom(depot);
  };
  new DepotMoves({
    facts,
    registry,
    onMoved: (depot) => {
      forgetFrom(depot);
      unreachedOrigins.forgetFrom(depot, now());
      links.forgetTowards(depot);
      emit({ type: 'depot-moved', depot });
    },
  });
  const jobs = new RecentJobs();
  const marks = new ClientMarks();
  const learned = config.planner.learnWays ? { ways } : {};
  const outcomes = new OutcomeBook({
    facts,
    jobs,
    emit,
    steadyMs: init.steadyMs,
    calibrations,
    ...learned,
    onTrust: (depot, isTrusted) => {
      if (!isTrusted) forgetFrom(depot);
      emit({ type: 'depot-trust', depot, isTrusted });
    },
    onSeen: (network, { depot, prefix }, nowMs) => {
      if (links.isBelieved(depot)) aliases.note(depot, network, prefix, nowMs);
    },
    onWorked: (job, depots, nowMs) => {
      const { network, host } = job;
      const [entry = ''] = depots;
      wishes.noteWorked(network, depots, host, nowMs);
      if (isBelieved(entry)) leads.noteEnded(job, entry, nowMs);
    },
  });
  const isBelieved = (depot: string) => outcomes.isTrusted(depot) && links.isBelieved(depot);
  leads.onJobLed((jobId, depot, to, atMs) => {
    const job = jobs.get(jobId);
    if (job && isBelieved(depot)) leads.note(job, depot, to, atMs);
  });
  const legs = new JobLegs({
    tickets,
    ask: (depot, jobId) => legAsker.ask(depot, jobId),
    outcomeOf: (jobId) => outcomes.of(jobId),
    now,
  });
  const probes = new OriginProbes({
    facts,
    origins,
    links,
    lostAfterMs: registry.lostAfterMs,
    isThere: (depot) => registry.isUp(depot, now()),
    onProbe: (outcome) => emit({ type: 'origin-probe', outcome }),
  });
  const plans = new PlanService({
    config,
    policy,
    planner,
    registry,
    unreached: links.unreached,
    sizes,
    tickets,
    groups,
    whereabouts: init.whereabouts,
    ends,
    probes,
    publicUrl: init.publicUrl,
    caps,
    onCameBack: (entry) => downChecks.suspect(entry),
    wishes,
    calibrations,
    leads,
    unreachedOrigins,
    ...learned,
    evidence: (of, to, from, nowMs) =>
      ends.evidence(of, to, from, nowMs) ?? linkEvidence(links, to, from, nowMs),
    ...(random ? { random } : {}),
    onIssued: (plan, { clientAddress }, { route: { basis }, size }) => {
      const { jobId, chain, alternatives, lanes, host, isAsked, isToLearn } = plan;
      const [network, client] = [clientPrefix(clientAddress), marks.of(clientAddress)];
      const known = size.source === 'assumed' ? {} : { sizeBytes: size.sizeBytes };
      jobs.add({ jobId, chain, alternatives, lanes, host, isAsked, basis, network, client, ...known });
      if (isToLearn) emit({ type: 'explored', jobId, host });
    },
  });
  links.onChange(() => plans.noteLinks());
  for (const kind of [...DEPOT_FACTS, ...ENROLMENT_FACTS]) {
    facts.store.watch(kind, () => {
      plans.noteDepots();
      // That it was heard moves no depot.
      if (kind !== DEPOT_HEARD) overlay.noteChange();
    });
  }
  return {
    policy,
    planner,
    tickets,
    downChecks,
    jobs,
    outcomes,
    legs,
    probes,
    plans,
    /** Tells depots that a client has been sent to the first of a chain. */
    tell: (chain: Chain, sent: SentClient | undefined): void => {
      void plansTold.tell(chain);
      if (sent && chain[0] !== undefined) void waysTold.tell(chain[0], sent);
    },
    renewAuthorities: (authorities: readonly string[]) => waysTold.renewAuthorities(authorities),
    close: () => {
      for (const part of [plansTold, waysTold, legAsker, downChecks]) part.close();
    },
  };
}
