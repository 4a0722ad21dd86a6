import type { FeedbackRequest } from '@longhaul/shared';
import { BARE_REQUEST } from './bare-request.ts';

/**
 * Tells a master how a download went, by the id of its plan: no address goes along. Whether it took that;
 * never rejects.
 */
export async function tellMaster(
  master: string,
  feedback: FeedbackRequest,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const response = await fetch(`${master}/v1/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(feedback),
      ...BARE_REQUEST,
      signal,
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
