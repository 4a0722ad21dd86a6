import {
  originTarget,
  parseOriginUrl,
  parseRelayTarget,
  type RunningLeg,
  runningLegsSchema,
} from '@longhaul/shared';
import { BARE_REQUEST } from './bare-request.ts';

/**
 * Asks a master what the legs of a download do now, by the ticket in its address at a depot. `undefined` where there is
 * no ticket or nobody tells. Never rejects.
 */
export async function askLegs(
  master: string,
  location: string,
  signal: AbortSignal,
): Promise<readonly RunningLeg[] | undefined> {
  const url = parseOriginUrl(location);
  const relayed = url.ok ? parseRelayTarget(originTarget(url.value)) : url;
  if (!relayed.ok) return undefined;
  try {
    const response = await fetch(`${master}/v1/legs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ ticket: relayed.value.ticket }),
      ...BARE_REQUEST,
      signal,
    });
    const answer = runningLegsSchema.safeParse(await response.json());
    return response.ok && answer.success ? answer.data.legs : undefined;
  } catch {
    return undefined;
  }
}
