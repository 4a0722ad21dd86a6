import { BARE_REQUEST } from './bare-request.ts';

/** What a master tells everybody of itself (`GET /v1/status`). */
export interface AboutMaster {
  /** Its address without the scheme, as people say it. */
  readonly name: string;
  readonly version: string;
  /** The operator's sentence; empty when there is none. */
  readonly note: string;
  readonly depotsUp: number;
  readonly depots: number;
}

/** Characters of what a master says of itself that are shown. */
const MOST_CHARS = 300;

/** Asks a master about itself; `undefined` when it does not say. Never rejects. */
export async function askAboutMaster(master: string, signal: AbortSignal): Promise<AboutMaster | undefined> {
  try {
    const response = await fetch(`${master}/v1/status`, { ...BARE_REQUEST, signal });
    const status = (await response.json()) as { note?: unknown; version?: unknown; depots?: unknown };
    if (!response.ok || !Array.isArray(status.depots)) return undefined;
    const states = status.depots.map((depot: { state?: unknown } | null) => depot?.state);
    return {
      name: URL.parse(master)?.host ?? master,
      version: textOf(status.version),
      note: textOf(status.note),
      depotsUp: states.filter((state) => state === 'up').length,
      depots: states.length,
    };
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MOST_CHARS) : '';
}
