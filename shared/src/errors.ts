/**
 * The one error registry. Every failure that a user or an operator can cause has an entry here; `docs/errors.md`
 * is generated from it (`npm run fix`) and checked against it (`npm run check`).
 */
interface ErrorEntry {
  /** HTTP status that goes with the code; 0 for failures that never travel over HTTP. */
  readonly status: number;
  /** Whether asking again, unchanged, may succeed. */
  readonly retry: boolean;
  /** A sentence that says what happened and what to do. */
  readonly message: string;
}

const entry = (status: number, retry: boolean, message: string): ErrorEntry => ({ status, retry, message });

export const ERRORS = {
  'bad-url': entry(
    400,
    false,
    'This is not a download address Longhaul understands: give a full http or https URL.',
  ),
  'unknown-scheme': entry(
    400,
    false,
    'Only http and https addresses can be downloaded: check the start of the URL.',
  ),
  'bad-port': entry(400, false, 'The port is not a number from 1 to 65535: correct it in the URL.'),
  'url-has-credentials': entry(
    400,
    false,
    'The address contains a user name or password: remove it, Longhaul never carries logins.',
  ),
  'bad-options': entry(
    400,
    false,
    'The options before the scheme are not understood: see docs/webmasters.md.',
  ),
  'bad-request': entry(400, false, 'The request does not have the documented form: see docs/protocol.md.'),
  'not-found': entry(404, false, 'There is nothing at this address: check the path.'),
  'method-not-allowed': entry(405, false, 'Only GET and HEAD are possible here: use one of them.'),
  'too-many-connections': entry(
    0,
    true,
    'As many connections are open as may be, over all or from one network: further ones are closed at once.',
  ),
  'request-too-large': entry(431, false, 'The request line and headers are too long: shorten the URL.'),
  'target-not-public': entry(
    403,
    false,
    'The address lies in a private or reserved range: Longhaul only fetches from the public Internet.',
  ),
  'port-not-allowed': entry(
    403,
    false,
    'This port is not one downloads come from: ask the operator to allow it.',
  ),
  'origin-not-allowed': entry(
    403,
    false,
    'This master does not serve that origin: download it directly, or ask the operator to add it.',
  ),
  'via-not-allowed': entry(
    403,
    false,
    'This master does not let clients choose depots or lanes: leave out the options via and lanes.',
  ),
  'rate-limited': entry(
    429,
    true,
    'Too many or too large downloads from your network: wait, then try again.',
  ),

  'not-a-relay-request': entry(
    404,
    false,
    "A depot serves only addresses with a ticket: start at the master's link.",
  ),
  'ticket-missing': entry(407, false, 'The tunnel request carries no ticket: ask the master for one.'),
  'ticket-malformed': entry(400, false, "The ticket is damaged: start again at the master's link."),
  'ticket-version-unknown': entry(
    400,
    false,
    'The ticket has an unknown version or algorithm: update this depot.',
  ),
  'ticket-key-unknown': entry(
    403,
    true,
    'The ticket was signed with a key this depot does not know: try again.',
  ),
  'ticket-signature-wrong': entry(
    403,
    false,
    "The ticket is forged or damaged: start again at the master's link.",
  ),
  'ticket-not-yet-valid': entry(
    403,
    true,
    'The ticket lies in the future: check the clocks of master and depot.',
  ),
  'ticket-start-over': entry(
    503,
    false,
    "This ticket can no longer start a download: use the master's link again.",
  ),
  'ticket-expired': entry(403, false, "The ticket's life is over: use the master's link again."),
  'ticket-wrong-depot': entry(403, false, 'The ticket does not name this depot at this place of its chain.'),
  'ticket-wrong-url': entry(
    403,
    false,
    "The ticket was given for another URL: start again at the master's link.",
  ),
  'ticket-wrong-authority': entry(403, false, 'The ticket was given for another origin.'),
  'ticket-wrong-kind': entry(403, false, 'The ticket was given for another kind of transfer.'),
  'parameters-disagree': entry(
    400,
    false,
    "The address's parameters are unknown, doubled or contradict the ticket.",
  ),
  'budget-used-up': entry(503, false, "The ticket's budget is used up: use the master's link again."),
  'caller-not-proved': entry(
    403,
    false,
    'The caller did not prove to be the previous depot of the chain: check its key and its clock.',
  ),
  'handover-missing': entry(
    503,
    true,
    "No transfer of this download waits here, it was taken or has expired: try again, or use the master's link again.",
  ),
  'job-busy': entry(503, true, 'This download has as many connections as it may: wait until one has ended.'),
  'client-busy': entry(
    503,
    true,
    'Your network has as many transfers here as it may: wait until one has ended.',
  ),
  'client-rate-limited': entry(
    503,
    true,
    'Your network downloads here as fast as it may: wait a few seconds, or until a transfer has ended.',
  ),
  'origin-crowded': entry(
    503,
    true,
    'This depot fetches from the origin as often at once as it may: wait until a transfer has ended, or go direct.',
  ),
  'origin-rate-limited': entry(
    503,
    true,
    'This depot fetches from the origin as fast as it may: wait a few seconds, or go direct.',
  ),
  'depot-full': entry(503, true, 'This depot serves as many transfers as it may: try again in a while.'),
  'shutting-down': entry(503, true, 'This depot is shutting down: try again.'),

  'next-depot-unknown': entry(502, true, 'The next depot of the chain is not registered or not up.'),
  'next-depot-unreachable': entry(502, true, 'The next depot of the chain refused or broke the connection.'),
  'next-depot-timeout': entry(504, true, 'The next depot of the chain did not answer in time.'),
  'next-depot-tls-failed': entry(
    502,
    false,
    "The next depot's certificate was not accepted: check its TLS files.",
  ),
  'origin-unresolvable': entry(502, true, "The origin's name has no address: check the host name."),
  'origin-unreachable': entry(
    502,
    true,
    'The origin refused or broke the connection: try again or go direct.',
  ),
  'origin-timeout': entry(504, true, 'The origin did not answer in time: try again or go direct.'),
  'origin-tls-failed': entry(
    502,
    false,
    "The origin's certificate or TLS was not accepted: the origin must fix it.",
  ),
  'origin-bad-answer': entry(502, true, 'The origin gave an answer that is not correct HTTP.'),
  'origin-changed': entry(
    502,
    false,
    'The file changed at the origin while it was downloaded: start the download again.',
  ),
  'origin-busy': entry(503, true, 'The origin takes no more requests for now: wait, then try again.'),
  'origin-not-resumable': entry(
    502,
    true,
    'The transfer broke, and the origin gives nothing by which its rest could be told from another version: start again.',
  ),
  'origin-digest-wrong': entry(
    502,
    true,
    'The file is not what the origin says it is (its digest differs): start again, then tell the origin.',
  ),
  'origin-unavailable': entry(
    503,
    true,
    'The origin does not give the file any more that this download began with: resume later, or start again.',
  ),
  'ways-used-up': entry(
    502,
    true,
    'The transfer broke more often or longer than the depot may repair it: resume, or start again.',
  ),
  'origin-needs-login': entry(
    403,
    false,
    'The origin asks for a login, which Longhaul never carries: go direct.',
  ),
  'address-not-allowed': entry(403, false, 'The origin resolves to an address that depots never connect to.'),
  'redirect-limit': entry(502, false, 'The origin redirects more than five times.'),
  'redirect-downgrade': entry(
    502,
    false,
    'The origin redirects from https to http, which is never followed.',
  ),
  'redirect-bad-target': entry(
    502,
    false,
    'The origin redirects to something that is not a download address.',
  ),
  'worker-script-refused': entry(403, false, 'A depot never serves service-worker scripts.'),

  'no-other-chain': entry(
    503,
    true,
    'The master knows no other chain for this download: go on from the entry depot alone.',
  ),
  'enrolment-refused': entry(
    403,
    false,
    "The enrolment secret is wrong or the clocks differ: copy it from the master's state folder, set both clocks.",
  ),
  'depot-unknown': entry(404, false, 'This depot is not registered here: register it first.'),
  'depot-key-mismatch': entry(
    409,
    false,
    "This depot id is registered with another key: remove it from the master's registry or restore the depot's state.",
  ),
  'depot-registry-full': entry(
    503,
    false,
    'This master has as many depots as it takes: remove old ones from its registry.',
  ),
  'depot-unreachable': entry(
    502,
    true,
    'The master cannot reach the depot at the address that it registers: open its port in firewall and NAT, or correct `public`.',
  ),
  'depot-not-proved': entry(
    502,
    true,
    'Somebody else answers at the address that the depot registers: correct `public` and what stands before the depot.',
  ),
  'too-many-challenges': entry(
    429,
    true,
    'Your network asks this depot too often to prove its address: wait a minute.',
  ),
  'depot-twice': entry(
    409,
    false,
    "Two running processes have this depot's id and key: end one of them, and give each machine an id and a state folder of its own.",
  ),
  'request-replayed': entry(
    409,
    false,
    'The signed request was here before: a depot signs each of its requests anew.',
  ),
  'depot-address-not-allowed': entry(
    403,
    false,
    "The depot's address is none that this overlay connects to: give it a public one, or name its network in addresses.overlayNetworks of master and depots.",
  ),
  'depot-signature-wrong': entry(
    401,
    false,
    'The request is not signed by the registered key: check key and clock.',
  ),
  'master-unreachable': entry(
    503,
    true,
    'The depot could not reach its master: check the address and the network.',
  ),
  'master-bad-answer': entry(
    502,
    true,
    'The answer did not come from the master or does not fit: check the secret.',
  ),

  'config-invalid': entry(0, false, 'The configuration has mistakes: correct every one that is listed.'),
  internal: entry(500, true, 'Something went wrong inside: the log has the details under this request.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Whether a peer's text is a code that may travel over HTTP; what a peer says is never believed unseen. */
export function isWireErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text) && ERRORS[text as ErrorCode].status >= 400;
}

interface ErrorContext {
  /** What exactly was wrong, for people; never a ticket or a full URL. */
  readonly detail?: string;
  /** Id of the depot where it happened. */
  readonly depot?: string;
  readonly cause?: unknown;
}

/** A registered failure. Returned inside a `Result` where it is expected, thrown where I/O breaks. */
export class LonghaulError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly depot: string | undefined;

  constructor(code: ErrorCode, context: ErrorContext = {}) {
    super(context.detail ? `${ERRORS[code].message} (${context.detail})` : ERRORS[code].message, {
      cause: context.cause,
    });
    this.name = 'LonghaulError';
    this.code = code;
    this.detail = context.detail;
    this.depot = context.depot;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retry(): boolean {
    return ERRORS[this.code].retry;
  }
}

/** Wraps anything that was thrown; an unregistered failure becomes `fallback` with the original as its cause. */
export function asLonghaulError(thrown: unknown, fallback: ErrorCode = 'internal'): LonghaulError {
  return thrown instanceof LonghaulError ? thrown : new LonghaulError(fallback, { cause: thrown });
}
