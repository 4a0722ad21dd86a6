import { type PlanAnswer, type PlanRequest, parseOriginUrl, planAnswerSchema } from '@longhaul/shared';
import { BARE_REQUEST } from './bare-request.ts';

/** Asks a master for the plan of a download; `undefined` when it refuses, fails or answers something else. */
export async function askMaster(
  master: string,
  request: PlanRequest,
  signal: AbortSignal,
): Promise<PlanAnswer | undefined> {
  try {
    const response = await fetch(`${master}/v1/plans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(request),
      ...BARE_REQUEST,
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      return undefined;
    }
    const plan = planAnswerSchema.safeParse(await response.json());
    return plan.success && hasWebAddresses(plan.data) ? plan.data : undefined;
  } catch {
    return undefined;
  }
}

function hasWebAddresses(plan: PlanAnswer): boolean {
  return parseOriginUrl(plan.location).ok && parseOriginUrl(plan.masterUrl).ok;
}
