import { formatBytes } from '@longhaul/shared';
import type { DoneDownload, RunningDownload } from '../messages/status.ts';
import { directUrl } from '../url-fragment.ts';
import { make } from './dom.ts';
import { explainHalt } from './explain-halt.ts';
import { formatSeconds } from './format-seconds.ts';

/** What the list entry of a running download shows beside its state. */
export interface CardContext {
  readonly nowMs: number;
  /** Seconds until it is whole, as far as somebody knows. */
  readonly secondsLeft: number | undefined;
  /** What a click on its button does. */
  readonly goOn: (key: string) => void;
}

/** The list entry of a download that is not whole yet. */
export function downloadCard(download: RunningDownload, context: CardContext): HTMLLIElement {
  const card = named(download);
  card.dataset.key = download.key;
  const { state } = download;
  if (state !== 'lost') {
    card.append(make('span', 'via quiet', via(download)), progressBar(download));
    card.append(make('span', 'amount quiet', amount(download)));
  }
  const halt = explainHalt(download, context.nowMs);
  if (halt === '') card.append(times(download, context.secondsLeft));
  else card.append(make('span', state === 'paused' ? 'quiet' : 'problem', halt));
  if (halt !== '' && state !== 'paused') {
    if (state !== 'lost') card.append(button(download, context));
    card.append(originLink(download));
  }
  return card;
}

/** The list entry of a download that is whole, with what its way was good for. */
export function doneCard(download: DoneDownload): HTMLLIElement {
  const { bytes, seconds, directSeconds, way } = download;
  const card = named(download);
  card.append(make('span', 'via quiet', via(download)));
  const took = make('span', 'faster', `${formatBytes(bytes)} in ${formatSeconds(seconds)}`);
  const line = make('span', 'times', took);
  if (way === 'chain') line.append(make('span', 'quiet', `directly about ${formatSeconds(directSeconds)}`));
  card.append(line);
  return card;
}

function named({ name, originUrl }: { readonly name: string; readonly originUrl: string }): HTMLLIElement {
  const title = make('span', 'name', name);
  title.title = originUrl;
  return make('li', 'download', title);
}

/** The depots in the order in which the bytes pass them. */
function via({ way, chain }: Pick<RunningDownload, 'way' | 'chain'>): string {
  return way === 'chain'
    ? `via ${chain.toReversed().join(' → ')}`
    : 'no depot was there: directly in the end';
}

function progressBar({ name, bytesReceived, totalBytes }: RunningDownload): HTMLProgressElement {
  const bar = make('progress', '');
  bar.setAttribute('aria-label', `Progress of ${name}`);
  if (totalBytes !== undefined) {
    bar.max = totalBytes;
    bar.value = bytesReceived;
  }
  return bar;
}

function amount({ bytesReceived, totalBytes }: RunningDownload): string {
  if (totalBytes === undefined) return formatBytes(bytesReceived);
  const percent = Math.floor((bytesReceived / totalBytes) * 100);
  return `${formatBytes(bytesReceived)} of ${formatBytes(totalBytes)} (${percent} %)`;
}

function times({ way, directSeconds }: RunningDownload, secondsLeft: number | undefined): HTMLElement {
  const line = make('span', 'times', make('span', 'faster', left(secondsLeft)));
  if (way === 'chain') line.append(make('span', 'quiet', `directly about ${formatSeconds(directSeconds)}`));
  return line;
}

function left(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  return Number.isFinite(seconds) ? `about ${formatSeconds(seconds)} left` : 'nothing comes at the moment';
}

function button(download: RunningDownload, { goOn }: CardContext): HTMLButtonElement {
  const text = download.state === 'waiting' ? 'Try now' : 'Go on';
  const element = make('button', 'go-on', text);
  element.type = 'button';
  element.setAttribute('aria-label', `${text}: ${download.name}`);
  element.addEventListener('click', () => goOn(download.key));
  return element;
}

function originLink({ originUrl }: RunningDownload): HTMLAnchorElement {
  const link = make('a', '', 'Download it anew, directly');
  link.href = directUrl(originUrl);
  link.target = '_blank';
  return link;
}
