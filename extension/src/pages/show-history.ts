import { type History, KEPT_DOWNLOADS, type PastDownload } from '../history/history.ts';
import { sayBytes, sayCount, sayDate, sayDuration, sayLongDuration } from '../texts/figures.ts';
import { say } from '../texts/say.ts';
import { byId, make } from './dom.ts';

/** Shows what the add-on brought: the sums, and the last downloads as a table. */
export function showHistory({ downloads, totals }: History): void {
  byId('no-history', HTMLElement).hidden = totals !== undefined;
  byId('history', HTMLElement).hidden = totals === undefined;
  if (!totals) return;
  byId('history-totals', HTMLElement).textContent = say('historyTotals', {
    count: sayCount(totals.count),
    size: sayBytes(totals.bytes),
    date: sayDate(totals.sinceMs),
  });
  byId('history-saved', HTMLElement).hidden = totals.seconds === 0;
  byId('history-saved', HTMLElement).textContent = say('historySaved', {
    time: sayLongDuration(totals.seconds),
    direct: sayLongDuration(totals.directSeconds),
  });
  byId('history-bound', HTMLElement).textContent = say('historyBound', { count: sayCount(KEPT_DOWNLOADS) });
  byId('history-rows', HTMLElement).replaceChildren(...downloads.map(row));
}

function row({
  name,
  doneAtMs,
  bytes,
  seconds,
  directSeconds,
  wasPaused,
}: PastDownload): HTMLTableRowElement {
  const title = make('th', '', name);
  title.scope = 'row';
  const compared = [seconds, directSeconds].map((time) => (wasPaused ? '' : sayDuration(time)));
  const cells = [sayDate(doneAtMs), sayBytes(bytes), ...compared];
  return make('tr', '', title, ...cells.map((cell) => make('td', '', cell)));
}
