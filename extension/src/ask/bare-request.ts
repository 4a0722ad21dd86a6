/** How the add-on asks masters and depots: nothing of the user's goes along, and no answer leads elsewhere. */
export const BARE_REQUEST = {
  credentials: 'omit',
  referrerPolicy: 'no-referrer',
  redirect: 'error',
  cache: 'no-store',
} as const satisfies RequestInit;
