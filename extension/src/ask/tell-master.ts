import type { FeedbackRequest } from '@longhaul/shared';
import { post } from './bare-request.ts';

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
    const response = await post(master, 'feedback', feedback, signal);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
