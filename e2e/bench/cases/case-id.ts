/**
 * Everything that is measured beside plain bodies, in the order of the report; ids stand in result lines and
 * never change.
 */
export const CASE_IDS = [
  'tls-http-1',
  'tls-http-64',
  'tls-https-1',
  'tls-https-64',
  'tls-cores-64',
  'handshakes-ecdsa',
  'handshakes-rsa',
  'handshakes-beside-body',
  'lanes',
  'lanes-150',
  'beginnings-1',
  'beginnings-3',
  'digests',
  'at-rest',
] as const;

export type CaseId = (typeof CASE_IDS)[number];

/**
 * What `--cases` can name: a case, or `bodies` and `rest`, which have forms of their own; a beginning names
 * all that have it.
 */
export const SELECTABLE_IDS = ['bodies', 'rest', ...CASE_IDS] as const;

export type SelectableId = (typeof SELECTABLE_IDS)[number];

/** What `tls`, `lanes-150` or `rest` stand for; nothing where no case is called so. */
export function selectCases(name: string): readonly SelectableId[] {
  const exact = SELECTABLE_IDS.filter((id) => id === name);
  return exact.length > 0 ? exact : SELECTABLE_IDS.filter((id) => id.startsWith(`${name}-`));
}

export interface CaseAccount {
  readonly title: string;
  /** How it is measured and what its figures are; Markdown. */
  readonly text: string;
}

const TLS_TEXT =
  'A depot as entry, asked by `GET` with a ticket over TLS 1.3, beside reverse proxies of others with the same certificate (ECDSA P-256). `curl --parallel` reads to `/dev/null` on the other core; its work is not counted.';
const HTTPS_TEXT = `${TLS_TEXT} Everybody asks the origin by TLS and verifies its certificate.`;

/** For the report. */
export const CASE_ACCOUNTS: Readonly<Record<CaseId, CaseAccount>> = {
  'tls-http-1': { title: 'TLS towards the client, origin http: one download', text: TLS_TEXT },
  'tls-http-64': { title: 'TLS towards the client, origin http: 64 downloads', text: TLS_TEXT },
  'tls-https-1': { title: 'TLS towards the client, origin https: one download', text: HTTPS_TEXT },
  'tls-https-64': { title: 'TLS towards the client, origin https: 64 downloads', text: HTTPS_TEXT },
  'tls-cores-64': {
    title: 'TLS on all cores: 64 downloads',
    text: 'The same with origin http, every relay on all cores with as many threads or workers. `busySpread` is the CPU time of the second busiest thread by that of the busiest: 1 where the flows are spread evenly over two.',
  },
  'handshakes-ecdsa': {
    title: 'Handshakes, ECDSA P-256',
    text: 'TLS 1.3 with X25519, which all of them have, new sessions and resumed ones, eight connections at a time that end after their handshake, as many for each party: handshakes for each CPU second of all threads of the relay.',
  },
  'handshakes-rsa': { title: 'Handshakes, RSA-2048', text: 'The same with a certificate of RSA, 2048 bits.' },
  'handshakes-beside-body': {
    title: 'A body while others shake hands',
    text: 'One body over TLS is read as fast as it comes, first alone, then while 500 handshakes a second are begun: the longest time in which none of its bytes came.',
  },
  lanes: {
    title: 'Lanes',
    text: 'One file over one connection, four lanes and eight, through three depots; the entry depot has a core for itself. CPU seconds by GB of the process of each depot.',
  },
  'lanes-150': {
    title: '150 downloads at once over four lanes',
    text: 'Each is read at 1 MB/s; CPU of the entry depot, and meanwhile, ten times a second, `/healthz` and the first byte of a file of 1 kB through it (chain of one, http), for a client of the same network (since 2026-11-27 for one elsewhere, too), with the same asked of the origin itself.',
  },
  'beginnings-1': {
    title: 'The beginning of a chain of one',
    text: 'Files of 1 kB over http, 16 at a time, each with a connection and a ticket of its own: CPU of each depot by download.',
  },
  'beginnings-3': { title: 'The beginning of a chain of three', text: 'The same through three depots.' },
  digests: {
    title: 'Digests',
    text: 'One file over http through one depot: without a digest, with one that the origin states (`Repr-Digest`), with `integrity.digest: always`, and from an origin without ranges and validators, where a digest of what the client has is kept (`failover.fetchAgain`).',
  },
  'at-rest': {
    title: 'A depot at rest',
    text: 'A depot that has just started, in an overlay with one master, after five seconds without a request.',
  },
};
