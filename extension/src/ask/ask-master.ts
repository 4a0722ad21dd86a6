import { errorAnswerSchema, type PlanAnswer, type PlanRequest, planAnswerSchema } from '@longhaul/shared';
import { type Left, left } from '../judge/why-left.ts';
import { isInsecure } from '../judge/why-unfit.ts';
import { parseUrl } from '../parse-url.ts';
import { BARE_REQUEST, post } from './bare-request.ts';

/** What came of asking a master for a plan. */
export type PlanReply =
  | { readonly result: 'plan'; readonly plan: PlanAnswer }
  /** The master's own code, and its sentence for people. */
  | { readonly result: 'refused'; readonly code: string; readonly message: string }
  /** Something answers there, but not as a master does. */
  | { readonly result: 'no-master'; readonly status: number }
  /** It was not asked: whoever listens would learn of an address that is told under TLS alone. */
  | { readonly result: 'insecure' }
  | { readonly result: 'silent' };

const WHY = {
  silent: 'master-silent',
  insecure: 'insecure-chain',
  'no-master': 'no-master-there',
} as const;

/** Why a download is left to the browser whose master gives no plan. */
export function leftByMaster(reply: Exclude<PlanReply, { result: 'plan' }>): Left {
  if (reply.result === 'refused') return left('master-refused', `${reply.message} (${reply.code})`);
  return left(WHY[reply.result]);
}

/** Asks a master for the plan of a download, with nothing about the user. Never rejects. */
export async function askMaster(
  master: string,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<PlanReply> {
  const asked = parseUrl(request.url);
  if (asked && isInsecure(asked, master)) return { result: 'insecure' };
  try {
    const response = await post(master, 'plans', request, signal);
    const { status } = response;
    const answer: unknown = await response.json().catch(() => undefined);
    if (!response.ok) {
      const refusal = errorAnswerSchema.safeParse(answer);
      if (!refusal.success) return { result: 'no-master', status };
      const { code, message } = refusal.data.error;
      return { result: 'refused', code, message };
    }
    const plan = planAnswerSchema.safeParse(answer);
    return plan.success && hasWebAddresses(plan.data)
      ? { result: 'plan', plan: plan.data }
      : { result: 'no-master', status };
  } catch {
    return { result: 'silent' };
  }
}

function hasWebAddresses(plan: PlanAnswer): boolean {
  return [plan.location, plan.masterUrl].every(parseUrl);
}

/** Whether a master says that it is well, and not a network's own page in its place. Never rejects. */
export async function isHealthyMaster(master: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${master}/healthz`, { ...BARE_REQUEST, signal });
    return response.ok && (await response.text()).trim() === 'ok';
  } catch {
    return false;
  }
}
