import {
  type ErrorAnswer,
  errorAnswerSchema,
  type PlanAnswer,
  type PlanRequest,
  planAnswerSchema,
} from '@longhaul/shared';

/** A refusal or failure as the page shows it. */
export type PageError = ErrorAnswer['error'];

export type PlanOutcome =
  | { readonly kind: 'plan'; readonly plan: PlanAnswer }
  | { readonly kind: 'error'; readonly error: PageError };

export interface MasterStatus {
  readonly note: string | null;
  readonly depots: readonly { readonly id: string; readonly state: string }[];
  readonly version: string;
}

/** A master that has said nothing by then is silent: the page asks no longer, and says so. */
const ANSWER_MS = 30_000;

const NOT_UNDERSTOOD: PageError = {
  code: 'master-bad-answer',
  message: 'The master gave an answer that this page does not understand: reload the page.',
  retry: true,
};
const NOT_REACHED: PageError = {
  code: 'master-unreachable',
  message: 'The master cannot be reached: check the connection and try again.',
  retry: true,
};

/** Asks the master for the plan of one download. Never rejects. */
export async function requestPlan(request: PlanRequest): Promise<PlanOutcome> {
  try {
    const response = await fetch('v1/plans', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const body: unknown = await response.json();
    const plan = planAnswerSchema.safeParse(body);
    if (response.ok && plan.success) return { kind: 'plan', plan: plan.data };
    const refusal = errorAnswerSchema.safeParse(body);
    return { kind: 'error', error: refusal.success ? refusal.data.error : NOT_UNDERSTOOD };
  } catch (error) {
    return { kind: 'error', error: error instanceof SyntaxError ? NOT_UNDERSTOOD : NOT_REACHED };
  }
}

/** What the master says of itself; `undefined` when it cannot be had, the page works without. */
export async function requestStatus(): Promise<MasterStatus | undefined> {
  try {
    const response = await fetch('v1/status', { signal: AbortSignal.timeout(ANSWER_MS) });
    return response.ok ? ((await response.json()) as MasterStatus) : undefined;
  } catch {
    return undefined;
  }
}
