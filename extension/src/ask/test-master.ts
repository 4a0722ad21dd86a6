import { parseMasterAddress } from '../settings/parse-master-address.ts';
import { BARE_REQUEST } from './bare-request.ts';

export type MasterTest =
  | { readonly result: 'ok'; readonly milliseconds: number }
  | { readonly result: 'bad-address' | 'unreachable' }
  | { readonly result: 'not-healthy'; readonly status: number };

/** Asks a master whether it is well. */
export async function testMaster(text: string, signal: AbortSignal): Promise<MasterTest> {
  const master = parseMasterAddress(text);
  if (master === undefined) return { result: 'bad-address' };
  const started = performance.now();
  try {
    const response = await fetch(`${master}/healthz`, {
      ...BARE_REQUEST,
      signal,
    });
    await response.body?.cancel();
    if (!response.ok) return { result: 'not-healthy', status: response.status };
    return { result: 'ok', milliseconds: Math.round(performance.now() - started) };
  } catch {
    return { result: 'unreachable' };
  }
}
