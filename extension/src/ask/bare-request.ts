/** How the add-on asks masters and depots: nothing of the user's goes along, and no answer leads elsewhere. */
export const BARE_REQUEST = {
  credentials: 'omit',
  referrerPolicy: 'no-referrer',
  redirect: 'error',
  cache: 'no-store',
} as const satisfies RequestInit;

/** Asks a master with JSON, for JSON. Rejects where nobody answers. */
export function post(master: string, place: string, body: object, signal: AbortSignal): Promise<Response> {
  return fetch(`${master}/v1/${place}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    ...BARE_REQUEST,
    signal,
  });
}
