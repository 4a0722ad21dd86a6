import { formatBytes } from '@longhaul/shared';
import type { RunningDownload } from '../messages/status.ts';
import { directUrl } from '../url-fragment.ts';
import { make } from './dom.ts';
import { formatSeconds } from './format-seconds.ts';

/** The list entry of one running download. */
export function downloadCard(download: RunningDownload): HTMLLIElement {
  const card = make('li', 'download');
  const name = make('span', 'name', download.name);
  name.title = download.originUrl;
  card.append(name);
  if (download.state === 'lost') {
    card.append(problem('It could not be started again.'), originLink(download));
    return card;
  }
  card.append(make('span', 'via quiet', way(download)), progressBar(download));
  card.append(
    make('span', 'amount quiet', make('span', '', amount(download)), make('span', '', halt(download))),
  );
  if (download.way === 'chain') card.append(times(download));
  return card;
}

/** The depots in the order in which the bytes pass them. */
function way({ way, chain }: RunningDownload): Node {
  if (way === 'direct') return problem('The chain broke; it comes directly now.');
  return document.createTextNode(`via ${chain.toReversed().join(' → ')}`);
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

function halt({ state }: RunningDownload): string {
  if (state === 'paused') return 'paused';
  return state === 'running' ? '' : 'interrupted';
}

function times({ predictedSeconds, directSeconds }: RunningDownload): HTMLElement {
  const line = make('span', 'times');
  line.append(
    make('span', 'faster', `about ${formatSeconds(predictedSeconds)}`),
    make('span', 'quiet', `directly about ${formatSeconds(directSeconds)}`),
  );
  return line;
}

function problem(text: string): HTMLElement {
  return make('span', 'problem', text);
}

function originLink({ originUrl }: RunningDownload): HTMLAnchorElement {
  const link = make('a', '', 'Download it directly');
  link.href = directUrl(originUrl);
  link.target = '_blank';
  return link;
}
