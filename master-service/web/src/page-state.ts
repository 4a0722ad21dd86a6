import { fileNameOf, parseBytes, parseOriginUrl, withHttps } from '@longhaul/shared';
import { computed, signal } from '@preact/signals';
import { type MasterStatus, type PlanOutcome, requestPlan, requestStatus } from './master-api.ts';
import { formatQuestion, NO_QUESTION, type Question, readQuestion } from './page-address.ts';

/** Where the page stands between a question and its plan. */
export type PageState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bad-size' }
  | { readonly kind: 'asking' }
  | (PlanOutcome & {
      /** The link that the master was asked about. */
      readonly link: string;
      /** Whether `https://` was put in front of what was typed. */
      readonly isHttpsAdded: boolean;
    });

/** What the fields hold. */
export const question = signal<Question>(NO_QUESTION);
export const page = signal<PageState>({ kind: 'empty' });
export const status = signal<MasterStatus | undefined>(undefined);
/** The document's title: the name of the file that the page is about. */
export const title = computed(() => {
  const url = page.value.kind === 'plan' ? parseOriginUrl(page.value.plan.url) : undefined;
  return url?.ok ? `${fileNameOf(url.value)} - Longhaul` : 'Longhaul';
});

export async function loadStatus(): Promise<void> {
  status.value = await requestStatus();
}

/**
 * Takes what the fields hold into the page's address and asks for its plan. The same question again is no new
 * address.
 */
export async function submitQuestion(): Promise<void> {
  const address = formatQuestion(question.value);
  if (address === formatQuestion(readQuestion(location.search))) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  await askForPlan();
}

/** Shows what the page's address asks for: at first, and after back and forward. */
export async function followAddress(): Promise<void> {
  question.value = readQuestion(location.search);
  if (question.value.link.trim() !== '') await askForPlan();
  else page.value = { kind: 'empty' };
}

/** Of several questions the last one is answered. */
async function askForPlan(): Promise<void> {
  const { link: typed, size } = question.value;
  const sizeBytes = parseBytes(size);
  if (size.trim() !== '' && sizeBytes === undefined) {
    page.value = { kind: 'bad-size' };
    return;
  }
  const link = withHttps(typed);
  const asking: PageState = { kind: 'asking' };
  page.value = asking;
  const outcome = await requestPlan({ url: link, ...(sizeBytes === undefined ? {} : { sizeBytes }) });
  if (page.value === asking) page.value = { ...outcome, link, isHttpsAdded: link !== typed.trim() };
}
