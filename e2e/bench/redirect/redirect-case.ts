/** What redirects are measured for, with the most that one may cost of nginx's `return 302` in the same run. */
export const REDIRECT_CASES = {
  same: { mode: 'http', links: 'chain', isNew: false, most: 5, text: 'the same client and URL' },
  fresh: {
    mode: 'http',
    links: 'chain',
    isNew: true,
    most: 30,
    text: 'every URL new, led to a depot by a fresh signature',
  },
  direct: { mode: 'http', links: 'direct', isNew: true, most: 8, text: 'every URL new, answered direct' },
  'tls-full': {
    mode: 'full',
    links: 'chain',
    isNew: false,
    most: 1.5,
    text: 'the same URL, each over a new TLS connection',
  },
  'tls-resumed': {
    mode: 'resumed',
    links: 'chain',
    isNew: false,
    most: 1.5,
    text: 'the same URL, each over a TLS session that is resumed',
  },
} as const;

export type RedirectCaseId = keyof typeof REDIRECT_CASES;
export const REDIRECT_CASE_IDS = Object.keys(REDIRECT_CASES) as readonly RedirectCaseId[];

/** Who redirects; nginx is what the others are held against. */
export const CONTESTANTS = ['nginx', 'node', 'longhaul'] as const;
export type Contestant = (typeof CONTESTANTS)[number];

export const CONTESTANT_LABELS: Readonly<Record<Contestant, string>> = {
  nginx: 'nginx `return 302`, one worker',
  node: 'node:http, `writeHead` and nothing else',
  longhaul: 'Longhaul, a whole master',
};
