import type { DoneDownload, RunningDownload } from '../messages/status.ts';
import { sayBytes, sayDuration, sayPercent, sayRate } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { directUrl } from '../url-fragment.ts';
import { chainPicture, type PictureLeg } from './chain-picture.ts';
import { make } from './dom.ts';
import { explainChanges } from './explain-changes.ts';
import { explainHalt } from './explain-halt.ts';
import type { Pace } from './time-left.ts';

/** What the list entry of a running download shows beside its state. */
export interface CardContext {
  readonly nowMs: number;
  readonly pace: Pace;
  /** What its depots measure now, in place of what was planned. */
  readonly legs: readonly PictureLeg[] | undefined;
  /** What came of the user's last click; empty where there is nothing to say. */
  readonly note: string;
  readonly act: (key: string, action: CardAction) => void;
}

export type CardAction = 'go-on' | 'direct' | 'elsewhere';

/** States in which nothing is wrong, though nothing comes. */
const QUIET_HALTS: readonly RunningDownload['state'][] = ['paused', 'checked'];

/** The list entry of a download that is not whole yet. */
export function downloadCard(download: RunningDownload, context: CardContext): HTMLLIElement {
  const card = named(download);
  card.dataset.key = download.key;
  const { state } = download;
  const halt = explainHalt(download, context.nowMs);
  if (state !== 'lost') card.append(progressBar(download), make('span', 'amount quiet', amount(download)));
  if (halt === '') card.append(times(download, context.pace), ...way(download, context));
  else card.append(make('span', QUIET_HALTS.includes(state) ? 'quiet' : 'problem', halt));
  card.append(note(context.note), make('div', 'actions', ...actions(download, context)));
  return card;
}

/**
 * The list entry of a download that is whole: what it took, what was predicted, and what direct would have
 * taken. That of one that was paused is compared with nothing.
 */
export function doneCard(download: DoneDownload, show: (downloadId: number) => void): HTMLLIElement {
  const { key, name, bytes, seconds, predictedSeconds, directSeconds, directSource, downloadId } = download;
  const card = named(download);
  card.dataset.key = key;
  const took = make('span', 'faster', say('doneIn', { size: sayBytes(bytes), time: sayDuration(seconds) }));
  if (download.way !== 'chain')
    card.append(make('span', 'times', took), make('span', 'quiet', say('doneDirectly')));
  else if (download.wasPaused) card.append(make('span', 'times', took));
  else {
    const predicted = say('donePredicted', { time: sayDuration(predictedSeconds) });
    const directly = say('directlyAbout', { time: sayDuration(directSeconds) });
    card.append(make('span', 'times', took, make('span', 'quiet', predicted)));
    card.append(make('span', 'quiet', directly));
    if (directSource) card.append(make('span', 'source quiet', say(KNOWN_HOW[directSource])));
  }
  card.append(...happened(download));
  if (downloadId !== undefined)
    card.append(
      make(
        'div',
        'actions',
        button(say('showFile'), name, () => show(downloadId)),
      ),
    );
  return card;
}

const KNOWN_HOW = {
  measured: 'directMeasured',
  configured: 'directConfigured',
  derived: 'directDerived',
  assumed: 'directAssumed',
} as const;

function named({ name, originUrl }: { readonly name: string; readonly originUrl: string }): HTMLLIElement {
  const title = make('h3', 'name', name);
  title.title = originUrl;
  return make('li', 'download', title);
}

/** What happened on the way, and the way itself. */
function way(download: RunningDownload, context: CardContext): readonly HTMLElement[] {
  return [...happened(download), ...picture(download, context)];
}

function happened(download: Parameters<typeof explainChanges>[0]): readonly HTMLElement[] {
  return explainChanges(download).map((sentence) => make('span', 'quiet', sentence));
}

/** The chain, as it is or was planned; in words where there is none. */
function picture(
  { way: kind, legs, choseDirect }: RunningDownload,
  context: CardContext,
): readonly HTMLElement[] {
  if (kind === 'direct') return [make('span', 'quiet', say(choseDirect ? 'choseDirect' : 'cameDirect'))];
  if (context.legs) return [chainPicture(context.legs, true)];
  const planned = legs?.map(({ from, to, rttMs, goodputBps }) => ({
    from,
    to,
    rttMs,
    bytesPerSecond: goodputBps / 8,
  }));
  return planned?.length ? [chainPicture(planned, false)] : [];
}

function progressBar({ name, bytesReceived, totalBytes }: RunningDownload): HTMLProgressElement {
  const bar = make('progress', '');
  bar.setAttribute('aria-label', say('progressOf', { name }));
  if (totalBytes !== undefined) {
    bar.max = totalBytes;
    bar.value = bytesReceived;
  }
  return bar;
}

function amount({ bytesReceived, totalBytes }: RunningDownload): string {
  const received = sayBytes(bytesReceived);
  if (totalBytes === undefined) return received;
  return say('amountOf', {
    received,
    total: sayBytes(totalBytes),
    percent: sayPercent(bytesReceived / totalBytes),
  });
}

function times({ way: kind, directSeconds }: RunningDownload, pace: Pace): HTMLElement {
  const line = make('span', 'times', make('span', 'faster', left(pace)));
  const { bytesPerSecond = 0 } = pace;
  if (bytesPerSecond > 0) line.append(make('span', 'speed', sayRate(bytesPerSecond)));
  if (kind === 'chain')
    line.append(make('span', 'quiet', say('directlyAbout', { time: sayDuration(directSeconds) })));
  return line;
}

function left({ secondsLeft }: Pace): string {
  if (secondsLeft === undefined) return '';
  return Number.isFinite(secondsLeft)
    ? say('timeLeft', { time: sayDuration(secondsLeft) })
    : say('nothingComes');
}

/** Always there: what is said in a place that has just come is not read out. */
function note(text: string): HTMLElement {
  const line = make('span', 'note', text);
  line.setAttribute('role', 'status');
  return line;
}

function actions(download: RunningDownload, { act }: CardContext): readonly HTMLElement[] {
  const { key, name, state, way: kind } = download;
  const does = (text: string, action: CardAction) => button(text, name, () => act(key, action), action);
  const direct = kind === 'chain' ? [does(say('useDirect'), 'direct')] : [];
  if (state === 'lost') return [originLink(download)];
  if (state === 'waiting') return [does(say('tryNow'), 'go-on'), ...direct, originLink(download)];
  if (state === 'click' || state === 'stuck') return [does(say('goOn'), 'go-on'), originLink(download)];
  return state === 'running' ? [...direct, does(say('anotherPath'), 'elsewhere')] : [];
}

function button(text: string, name: string, click: () => void, className = ''): HTMLButtonElement {
  const element = make('button', className, text);
  element.type = 'button';
  element.setAttribute('aria-label', say('actionOf', { action: text, name }));
  element.addEventListener('click', click);
  return element;
}

function originLink({ originUrl, name }: RunningDownload): HTMLAnchorElement {
  const link = make('a', '', say('anewDirectly'));
  link.href = directUrl(originUrl);
  link.target = '_blank';
  link.setAttribute('aria-label', say('actionOf', { action: say('anewDirectly'), name }));
  return link;
}
