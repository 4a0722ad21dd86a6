import { originTarget, parseRelayTarget, type RunningLeg, runningLegsSchema } from '@longhaul/shared';
import { parseUrl } from '../parse-url.ts';
import { post } from './bare-request.ts';

/**
 * Asks a master what the legs of a download do now, by the ticket in its address at a depot. `undefined` where there is
 * no ticket or nobody tells. Never rejects.
 */
export async function askLegs(
  master: string,
  location: string,
  signal: AbortSignal,
): Promise<readonly RunningLeg[] | undefined> {
  const url = parseUrl(location);
  const relayed = url && parseRelayTarget(originTarget(url));
  if (!relayed?.ok) return undefined;
  try {
    const response = await post(master, 'legs', { ticket: relayed.value.ticket }, signal);
    const answer = runningLegsSchema.safeParse(await response.json());
    return response.ok && answer.success ? answer.data.legs : undefined;
  } catch {
    return undefined;
  }
}
