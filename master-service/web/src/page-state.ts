import { signal } from '@preact/signals';
import { type MasterStatus, type PlanOutcome, requestPlan, requestStatus } from './master-api.ts';

/** Where the page stands between a link and its plan. */
export type PageState = { readonly kind: 'empty' } | { readonly kind: 'asking' } | PlanOutcome;

export const link = signal('');
export const page = signal<PageState>({ kind: 'empty' });
export const status = signal<MasterStatus | undefined>(undefined);

export async function loadStatus(): Promise<void> {
  status.value = await requestStatus();
}

/** Asks for the plan of the link in the field; of several questions the last one is answered. */
export async function askForPlan(): Promise<void> {
  const asking: PageState = { kind: 'asking' };
  page.value = asking;
  const outcome = await requestPlan(link.value);
  if (page.value === asking) page.value = outcome;
}

/** Takes the link of an address like `/?url=<link>`, so that a plan can be shown to others. */
export async function takeLinkFromAddress(search: string): Promise<void> {
  const given = new URLSearchParams(search).get('url');
  if (!given) return;
  link.value = given;
  await askForPlan();
}
