import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserKind, TestBrowser } from '../../browsers/browser.ts';
import { openLinkPage } from '../../fixtures/download-checks.ts';
import { fileBody } from '../../fixtures/origin-content.ts';
import { expect } from '../../fixtures/test.ts';
import { RandomStream } from '../../lab/emulator/random-stream.ts';
import { machineLoad } from '../../lab/results/machine-load.ts';
import type { BenchRun } from '../run/bench-run.ts';
import { type BrowserCase, casesOf } from './browser-cases.ts';
import { type BrowsersLine, WAYS, type Way } from './browsers-line.ts';
import { emptyFolders, type FileWatch, holdsFile, listFiles, watchFolders } from './file-watch.ts';
import { openStage, type Scene, STAGE_IDS, type Stage } from './stage.ts';

export interface BrowsersRun extends BenchRun<BrowsersLine> {
  readonly browsers: readonly BrowserKind[];
  readonly cases: readonly BrowserCase[];
  /** Of the order in which cases and ways take turns. */
  readonly seed: number;
}

/** A download that is not whole by then never is. */
const END_MS = 45_000;
/** One that nothing has come of for so long, when nobody looks after it, is left as it is. */
const STILL_MS = 4_000;
/** How often it is looked whether something has happened. */
const LOOK_MS = 20;
/** What the add-on does when a file is whole is done by then. */
const SETTLED_MS = 2_000;
/** Short waits. */
const POLL = { intervals: [20, 50, 100] };

/** Has each browser download the file of each case, with the add-on and without it, by turns. */
export async function runBrowsers(run: BrowsersRun): Promise<void> {
  const random = new RandomStream(`browsers ${run.seed}`);
  for (const browser of run.browsers)
    for (const stageId of STAGE_IDS) {
      const cases = casesOf(run.cases, browser, stageId);
      const turns = Array.from({ length: run.repeats }, (_, at) =>
        shuffled(cases, random).flatMap((one) =>
          shuffled(WAYS, random).map((way) => ({ one, way, repeat: at + 1 })),
        ),
      ).flat();
      const left = turns.filter(({ one, way, repeat }) => !isDone(run, browser, one, way, repeat));
      if (left.length === 0) continue;
      run.say(`${browser}, ${stageId}: ${left.length} downloads`);
      const stage = await openStage(browser, stageId);
      try {
        await warm(stage);
        for (const { one, way, repeat } of left) {
          run.signal.throwIfAborted();
          const line = await play(stage, one, way, repeat);
          run.file.append({
            bench: 'browsers',
            browser,
            case: one.id,
            way,
            repeat,
            ...line,
            load: machineLoad(),
          });
          run.say(
            `${browser} ${one.id} ${way} ${repeat}: ${line.endMs?.toFixed(0) ?? 'never'} ms. ${line.said}`,
          );
        }
      } finally {
        await stage.close();
      }
    }
}

function isDone(
  { file }: BrowsersRun,
  browser: BrowserKind,
  one: BrowserCase,
  way: Way,
  repeat: number,
): boolean {
  return file.lines.some(
    (line) => line.browser === browser && line.case === one.id && line.way === way && line.repeat === repeat,
  );
}

/** A new browser's first download is slower than others, with and without the add-on. */
async function warm(stage: Stage): Promise<void> {
  const one: BrowserCase = { id: 'first', title: '', group: 'taken' };
  for (const way of WAYS) await play(stage, one, way, 0);
}

type Played = Omit<BrowsersLine, 'bench' | 'browser' | 'case' | 'way' | 'repeat' | 'load'>;

async function play(stage: Stage, one: BrowserCase, way: Way, repeat: number): Promise<Played> {
  const { world, otherFolder } = stage;
  const user = stage.users[way];
  const mark = `-${repeat}${way}`;
  const stem = `${prefixOf(one)}${one.id.replaceAll('.', '-')}${mark}`;
  const name = `${stem}${one.ending ?? '.bin'}`;
  const target = (one.path ?? (one.group === 'broken' ? SLOWLY : USUALLY))(name);
  const body = fileBody(name);
  const folders = [user.downloadsDir, otherFolder];
  emptyFolders(folders);
  const path = target.split('?')[0] ?? target;
  const sent = () => world.origin.sentBytes(path);
  const watch = watchFolders(folders, {
    sizeBytes: body.length,
    isAskedAbout: one.isAskedAbout ?? false,
    isSent: () => sent().toOthers + sent().toDepots > 0,
  });
  const scene: Scene = {
    world,
    otherFolder,
    user,
    isHelped: way === 'longhaul',
    name,
    target,
    url: world.originUrl + target,
    onDisk: (bytes) => expect.poll(() => watch.mostBytes, POLL).toBeGreaterThan(bytes),
  };
  try {
    await one.prepare?.(scene);
    await (one.show?.(scene) ?? openLinkPage(user, world, target));
    const version = await user.evaluate<string>(VERSION);
    await user.evaluate(NOTE_CLICK);
    const askedAtMs = Date.now();
    await (one.begin?.(scene) ?? user.click('#link'));
    // A browser that has asked for a page and got no answer yet tells nothing.
    await until(() => watch.firstByteAtMs !== undefined, END_MS);
    const clickedAtMs = await user.evaluate<number | null>('return window.clickedAtMs ?? null');
    const beganAtMs = (one.isFromMenu ? watch.sentAtMs : clickedAtMs) ?? askedAtMs;
    const trouble = await one.meanwhile?.(scene).catch(firstLineOf);
    await ended(watch, scene.isHelped);
    const said = scene.isHelped ? await saidOf(user, stem) : '';
    const { toOthers, toDepots } = sent();
    const since = (atMs: number | undefined) => (atMs === undefined ? null : Math.round(atMs - beganAtMs));
    return {
      version,
      sizeBytes: body.length,
      firstByteMs: since(watch.firstByteAtMs),
      endMs: since(watch.wholeAtMs),
      isEqual: holdsFile(folders, body),
      files: listFiles(folders).map((file) => file.name.replace(mark, '')),
      toBrowserBytes: toOthers,
      toDepotsBytes: toDepots,
      said: (trouble === undefined ? said : `Could not be played (${trouble}). ${said}`).replaceAll(mark, ''),
    };
  } finally {
    watch.stop();
    await one.mend?.(scene);
  }
}

function prefixOf({ group, isLarge }: BrowserCase): string {
  if (isLarge) return 'large-';
  return group === 'broken' ? '' : 'brief-';
}

const USUALLY = (name: string) => `/files/${name}`;
/** Over one connection, at one rate, so that there is time for something to break. */
const SLOWLY = (name: string) => `/slow/none/${name}`;

/** The page's own clock: what driving the browser takes is no part of the download. */
const NOTE_CLICK = `addEventListener('click', ({ timeStamp }) => {
  window.clickedAtMs = performance.timeOrigin + timeStamp;
}, { capture: true, once: true });`;

const VERSION = "return /(?:Chrome|Firefox)\\/([0-9]+)/.exec(navigator.userAgent)?.[1] ?? '?'";

/** Waits until the file is whole, or nothing more will come of it. */
async function ended(watch: FileWatch, isHelped: boolean): Promise<void> {
  const isStill = () => !isHelped && Date.now() - watch.changedAtMs > STILL_MS;
  await until(() => watch.wholeAtMs !== undefined || isStill(), END_MS);
}

async function until(isSo: () => boolean, mostMs: number): Promise<void> {
  const deadlineMs = Date.now() + mostMs;
  while (!isSo() && Date.now() < deadlineMs) await delay(LOOK_MS);
}

function firstLineOf(failure: unknown): string {
  return String(failure).split('\n', 1)[0] ?? '';
}

/**
 * What the popup says of this download in the end: of one that came through depots or was looked after, or
 * why it was left.
 */
async function saidOf(user: TestBrowser, stem: string): Promise<string> {
  await user.goto(user.addonPage('popup.html'));
  const read = () => user.evaluate<string>(READ_POPUP, stem);
  let said = '';
  const deadlineMs = Date.now() + SETTLED_MS;
  do said = await read();
  while (said === '' && Date.now() < deadlineMs);
  return said;
}

const READ_POPUP = `await new Promise((go) => setTimeout(go, 100));
  const cards = [...document.querySelectorAll('#done li')];
  const own = cards.find((card) => card.querySelector('.name').textContent.includes(args[0]));
  if (own) return [...own.children]
    .filter((part) => !part.matches('.name, .actions'))
    .map((part) => part.innerText.replaceAll(/\\s*\\n\\s*/g, '; '))
    .join('; ');
  const left = document.querySelector('#last-left').textContent;
  return left.includes(args[0]) ? left : '';`;

function shuffled<T>(items: readonly T[], random: RandomStream): readonly T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
