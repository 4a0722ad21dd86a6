import { setTimeout as delay } from 'node:timers/promises';
import type { LineFile } from '../results/result-file.ts';
import { ANSWER_MS, type Question, startAsker } from '../sites/asker.ts';
import { countFiles, type DownloadedFile, type Downloader } from './downloads.ts';
import {
  EVENT_NAMES,
  type EventLine,
  type JoinLine,
  type MastersEvent,
  type MastersLine,
  type Questions,
} from './masters-line.ts';
import { DEPOTS, SITE_NAMES, type SiteName } from './masters-network.ts';
import { type MastersStage, startMastersStage } from './masters-stage.ts';
import { untilRight } from './view.ts';

/** What happens, happens here: to its NATS server, its master, its cables. */
const SITE: SiteName = 'rj';
/** Whom it cannot hear in a cut that is not transitive. */
const OTHER: SiteName = 'pe';
/** All is well for so long before an event. */
const SETTLE_MS = 1_000;
/**
 * What happens lasts at least so long: depots that miss their heartbeats are lost after three seconds, silent
 * ones left after five.
 */
const EVENT_MS = 10_000;
const RIGHT_WITHIN_MS = 30_000;
const ENDED_WITHIN_MS = 120_000;
const WELL_WITHIN_MS = 60_000;
const CLOCK_JUMP_MS = 6 * 3_600_000;
/** A client on a busy machine tells of an end so much later. */
const LATE_MS = 500;
/** How often a master that joins late is asked whether it knows everything. */
const JOIN_ASK_MS = 5;
const JOIN_WITHIN_MS = 20_000;
const LOOK_MS = 20;

export interface MastersPlan {
  readonly repeats: number;
  readonly events: readonly (MastersEvent | 'join')[];
  /** Of the overlay that a late joiner learns of, its own six included, and how many links each depot has. */
  readonly depots: number;
  readonly links: number;
}

/** What stands in a plan: the events, and who joins late. */
export const WHAT_HAPPENS = [...EVENT_NAMES, 'join'] as const;

interface MastersRun {
  readonly plan: MastersPlan;
  readonly file: Pick<LineFile<MastersLine>, 'append'>;
  readonly say: (text: string) => void;
}

/** Lets each event happen so many times, in turn, then has a master join late as often; a line for each. */
export async function runMasters({ plan, file, say }: MastersRun): Promise<void> {
  const stage = await startMastersStage();
  try {
    for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
      for (const event of EVENT_NAMES.filter((name) => plan.events.includes(name))) {
        const line = await happen(stage, event, repeat);
        file.append(line);
        say(
          `${repeat}/${plan.repeats} ${event}: right after ${line.rightMs ?? '-'} ms, after its end ${line.backMs ?? '-'} ms`,
        );
      }
    }
    if (plan.events.includes('join')) await joinLate(stage, { plan, file, say });
  } finally {
    await stage.close();
  }
}

/** An event: whom it is about, what it cuts, and how it begins and ends. */
interface Happening {
  /** The masters that are asked as those that it happens to; the others are elsewhere. */
  readonly there: readonly SiteName[];
  /** Whose views can be right while it lasts. */
  readonly seeing: readonly SiteName[];
  readonly cuts?: readonly (readonly [SiteName, SiteName])[];
  readonly begin: () => unknown;
  readonly end: () => unknown;
}

function happeningOf({ bus, masters, cut, heal }: MastersStage, event: MastersEvent): Happening {
  const others = SITE_NAMES.filter((site) => site !== SITE);
  const clockAhead = (aheadMs: number): Happening => ({
    there: [SITE],
    seeing: SITE_NAMES,
    begin: () => masters[SITE].setClock(aheadMs),
    end: () => masters[SITE].setClock(0),
  });
  switch (event) {
    case 'nats':
      return { there: [SITE], seeing: SITE_NAMES, begin: () => bus.kill(SITE), end: () => bus.start(SITE) };
    case 'death':
      return {
        there: [],
        seeing: others,
        begin: () => masters[SITE].kill(),
        end: () => masters[SITE].start(),
      };
    case 'partition':
      return {
        there: [SITE],
        seeing: [],
        cuts: others.map((other) => [SITE, other]),
        begin: () => cut(SITE, others),
        end: heal,
      };
    case 'cut':
      return {
        there: [SITE, OTHER],
        seeing: SITE_NAMES,
        cuts: [[SITE, OTHER]],
        begin: () => cut(SITE, [OTHER]),
        end: heal,
      };
    case 'forward':
      return clockAhead(CLOCK_JUMP_MS);
    case 'back':
      return clockAhead(-CLOCK_JUMP_MS);
  }
}

async function happen(stage: MastersStage, event: MastersEvent, repeat: number): Promise<EventLine> {
  const { there, seeing, cuts = [], begin, end } = happeningOf(stage, event);
  await untilWell(stage);
  const right = (sites: readonly SiteName[], sinceMs: number) =>
    untilRight(
      sites.map((site) => stage.views[site]),
      DEPOTS.map(({ id }) => id),
      sinceMs,
      RIGHT_WITHIN_MS,
    );
  const atMs = Date.now();
  await begin();
  const rightMs = seeing.length === 0 ? null : await right(seeing, atMs);
  await delay(Math.max(0, atMs + EVENT_MS - Date.now()));
  const calledOffMs = Date.now();
  await end();
  // A master that starts again listens now.
  const endedAtMs = Date.now();
  const backMs = await right(SITE_NAMES, endedAtMs);
  await Promise.all(stage.downloaders.map(({ untilEnded }) => untilEnded(endedAtMs, ENDED_WITHIN_MS)));
  // What was asked until then has come to an end by now, well or not.
  await delay(Math.max(0, endedAtMs + ANSWER_MS + LATE_MS - Date.now()));
  // One that is dead is neither here nor there.
  const elsewhere = SITE_NAMES.filter(
    (site) => !there.includes(site) && !(event === 'death' && site === SITE),
  );
  const isRunning = ({ startedAtMs, endedAtMs: overAtMs }: DownloadedFile) =>
    startedAtMs < atMs && overAtMs > atMs;
  const isCut = ({ chain }: Downloader) => cuts.some((cut) => leads(chain, cut));
  const filesOf = (downloaders: readonly Downloader[], counts: (file: DownloadedFile) => boolean) =>
    countFiles(downloaders.flatMap(({ files }) => files.filter(counts)));
  return {
    kind: 'event',
    event,
    repeat,
    rightMs,
    backMs,
    there: countQuestions(stage, there, atMs, calledOffMs),
    elsewhere: countQuestions(stage, elsewhere, atMs, calledOffMs),
    running: filesOf(
      stage.downloaders.filter((each) => !isCut(each)),
      isRunning,
    ),
    broken: filesOf(stage.downloaders.filter(isCut), isRunning),
    begun: filesOf(stage.downloaders, ({ startedAtMs }) => startedAtMs >= atMs && startedAtMs < calledOffMs),
  };
}

/** Whether a chain leads from one of these sites to the other. */
function leads(chain: readonly string[], [one, other]: readonly [SiteName, SiteName]): boolean {
  const sites = chain.map((id) => DEPOTS.find((depot) => depot.id === id)?.site);
  return sites.some((site, at) => {
    const next = sites[at + 1];
    return (site === one && next === other) || (site === other && next === one);
  });
}

/** Waits until all masters have heard all depots anew, and a file has come over each chain since. */
async function untilWell({ views, downloaders }: MastersStage): Promise<void> {
  const ids = DEPOTS.map(({ id }) => id);
  const right = await untilRight(Object.values(views), ids, Date.now(), WELL_WITHIN_MS);
  if (right === null) throw new Error('the masters do not know all depots any more');
  await delay(SETTLE_MS);
  await Promise.all(downloaders.map(({ untilEnded }) => untilEnded(Date.now(), ENDED_WITHIN_MS)));
}

function countQuestions(
  { questions, network }: MastersStage,
  sites: readonly SiteName[],
  fromMs: number,
  untilMs: number,
): Questions {
  const origin = new URL(`http://${network.addressOf('origin')}`).hostname;
  const asked = sites
    .flatMap((site) => questions[site])
    .filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < untilMs);
  const isRedirect = ({ answer }: Question) => answer?.status === 307;
  const toOrigin = asked.filter(
    (question) => isRedirect(question) && new URL(question.answer?.location ?? '').hostname === origin,
  );
  const failed = asked.filter((question) => !isRedirect(question));
  const failures = failed.map(
    ({ answer, failure }) => failure ?? `${answer?.status} ${firstLine(answer?.text)}`,
  );
  return {
    asked: asked.length,
    failed: failed.length,
    toOrigin: toOrigin.length,
    failures: [...new Set(failures)],
  };
}

function firstLine(text = ''): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Has a master join an overlay as large as the plan says, again and again; each time it knows nothing. */
async function joinLate(stage: MastersStage, { plan, file, say }: MastersRun): Promise<void> {
  await untilWell(stage);
  // So often asked for a thousand depots, they would have more to do with that than with anything else.
  for (const { stop } of Object.values(stage.views)) stop();
  const large = await stage.startLarge(plan.depots - DEPOTS.length, plan.links);
  for (const { url } of Object.values(stage.masters)) await untilKnown(stage, url, plan);
  for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
    const line = await joinOnce(stage, plan, repeat);
    file.append(line);
    say(`${repeat}/${plan.repeats} join: ${line.joinedMs} ms for ${line.knownLinks} links`);
  }
  await large.stop();
}

async function joinOnce(
  stage: MastersStage,
  { depots, links }: MastersPlan,
  repeat: number,
): Promise<JoinLine> {
  const asked: Question[] = [];
  const asking = { url: `${stage.lateUrl}/healthz/ready`, everyMs: JOIN_ASK_MS };
  const { stop } = startAsker(stage.atClient, asking, (question) => asked.push(question));
  const startedAtMs = Date.now();
  try {
    const late = await stage.startLate();
    const listensAtMs = Date.now();
    const isReady = ({ answer }: Question) => answer?.text === 'ready\n';
    let ready = asked.find(isReady);
    while (!ready) {
      if (Date.now() > listensAtMs + JOIN_WITHIN_MS) throw new Error('a master that joined is not ready');
      await delay(LOOK_MS);
      ready = asked.find(isReady);
    }
    stop();
    const known = await stage.knownAt(stage.lateUrl);
    await late.stop();
    const endedAtMs = Date.now();
    await Promise.all(stage.downloaders.map(({ untilEnded }) => untilEnded(endedAtMs, ENDED_WITHIN_MS)));
    const files = stage.downloaders.flatMap((downloader) => downloader.files);
    return {
      kind: 'join',
      repeat,
      depots,
      links,
      joinedMs: Math.max(0, ready.endedAtMs - listensAtMs),
      knownDepots: known.depots,
      knownLinks: known.links,
      elsewhere: countQuestions(stage, SITE_NAMES, startedAtMs, endedAtMs),
      running: countFiles(
        files.filter((each) => each.startedAtMs < endedAtMs && each.endedAtMs > startedAtMs),
      ),
    };
  } finally {
    stop();
  }
}

async function untilKnown(
  { knownAt }: MastersStage,
  masterUrl: string,
  { depots, links }: MastersPlan,
): Promise<void> {
  const deadlineMs = Date.now() + WELL_WITHIN_MS;
  const wanted = (depots - DEPOTS.length) * links;
  for (;;) {
    const known = await knownAt(masterUrl);
    if (known.depots >= depots && known.links >= wanted) return;
    if (Date.now() > deadlineMs) throw new Error(`${masterUrl} knows ${JSON.stringify(known)} only`);
    await delay(LOOK_MS);
  }
}
