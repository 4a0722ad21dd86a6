/**
 * Who is to blame for a failure, which decides what may help:
 * - `client`: the request, as whoever sent it made it, or how many of them there are;
 * - `way`: the depots and connections up to the origin; another way may do better;
 * - `origin`: the origin, over whatever way it is asked;
 * - `depot`: the depot (or master) that says it; another one may do better;
 * - `master`: the depot's master.
 */
export type Blame = 'client' | 'way' | 'origin' | 'depot' | 'master';

/**
 * The one error registry. Every failure that a user or an operator can cause has an entry here; `docs/errors.md`
 * is generated from it (`npm run fix`) and checked against it (`npm run check`).
 */
export interface ErrorEntry {
  /** HTTP status that goes with the code; 0 for failures that never travel over HTTP. */
  readonly status: number;
  readonly blame: Blame;
  /** Whether asking again, unchanged, may succeed. */
  readonly retry: boolean;
  /** A sentence that says what happened and, behind a colon, what to do. */
  readonly message: string;
  /** Whether the download may succeed for a client that asks the origin itself. */
  readonly direct: boolean;
}

const entry = (
  status: number,
  blame: Blame,
  retry: boolean,
  message: string,
  direct = false,
): ErrorEntry => ({ status, blame, retry, message, direct });

export const ERRORS = {
  'bad-url': entry(
    400,
    'client',
    false,
    'This is not a download address Longhaul understands: give a full http or https URL.',
  ),
  'unknown-scheme': entry(
    400,
    'client',
    false,
    'Only http and https addresses can be downloaded: check the start of the URL.',
  ),
  'bad-port': entry(400, 'client', false, 'The port is not a number from 1 to 65535: correct it in the URL.'),
  'url-has-credentials': entry(
    400,
    'client',
    false,
    'The address contains a user name or password: remove it, Longhaul never carries logins.',
    true,
  ),
  'bad-options': entry(
    400,
    'client',
    false,
    'The options of this link are not understood or cannot be met: correct them, or leave them out.',
  ),
  'bad-request': entry(
    400,
    'client',
    false,
    'The request does not have the form that is expected here: correct it, then ask again.',
  ),
  'not-found': entry(404, 'client', false, 'There is nothing at this address: check the path.'),
  'name-not-listed': entry(
    403,
    'client',
    false,
    'What is for operators is not given by this name: list it in `metricsHosts`, or ask by an address.',
  ),
  'job-unknown': entry(
    404,
    'client',
    false,
    'This master knows nothing of that download: give the job id that the redirect or the plan named, within the hour.',
  ),
  'feedback-limited': entry(
    429,
    'client',
    true,
    'Your network has told this master very much of late: wait, then tell it again.',
  ),
  'method-not-allowed': entry(
    405,
    'client',
    false,
    'Only GET and HEAD are possible here: open the address itself.',
  ),
  'request-too-large': entry(
    431,
    'client',
    false,
    'The request line and headers are too long: shorten the URL.',
  ),
  'too-many-connections': entry(
    0,
    'client',
    true,
    'As many connections are open as may be, over all or from one network: wait, further ones are closed at once.',
  ),
  'target-not-public': entry(
    403,
    'client',
    false,
    'The address lies in a private or reserved range: give a public one, Longhaul fetches from nowhere else.',
  ),
  'port-not-allowed': entry(
    403,
    'client',
    false,
    'This port is not one downloads come from: ask the operator to allow it.',
    true,
  ),
  'origin-not-allowed': entry(
    403,
    'client',
    false,
    'This master does not serve that origin: download it directly, or ask the operator to add it.',
    true,
  ),
  'via-not-allowed': entry(
    403,
    'client',
    false,
    'This master does not let clients choose depots or lanes: leave out the options via and lanes.',
  ),
  'master-busy': entry(
    503,
    'master',
    true,
    'This master is asked for more plans than it can make: go direct, or try again in a few seconds.',
    true,
  ),
  'rate-limited': entry(
    429,
    'client',
    true,
    'Too many or too large downloads from your network: wait, then try again.',
  ),

  'not-a-relay-request': entry(
    404,
    'client',
    false,
    "A depot serves only addresses with a ticket: start at the master's link.",
  ),
  'ticket-missing': entry(
    407,
    'client',
    false,
    'The tunnel request carries no ticket: ask the master for one.',
  ),
  'ticket-other-wanted': entry(
    407,
    'client',
    false,
    'The browser is to get to know another ticket: show that one.',
  ),
  'ticket-malformed': entry(400, 'client', false, "The ticket is damaged: start again at the master's link."),
  'ticket-version-unknown': entry(
    400,
    'client',
    false,
    'The ticket has an unknown version or algorithm: update this depot.',
  ),
  'ticket-key-unknown': entry(
    403,
    'way',
    true,
    'The ticket was signed with a key this depot does not know: try again.',
  ),
  'ticket-signature-wrong': entry(
    403,
    'client',
    false,
    "The ticket is forged or damaged: start again at the master's link.",
  ),
  'ticket-checks-spent': entry(
    429,
    'client',
    true,
    'Too many tickets from your address or network were forged or damaged, so none is looked at there: wait a minute, then try again.',
  ),
  'signature-checks-spent': entry(
    429,
    'way',
    true,
    'Too many signatures from your address or network were wrong, so none is looked at there: wait a minute, then try again.',
  ),
  'ticket-not-yet-valid': entry(
    403,
    'client',
    true,
    'The ticket lies in the future: check the clocks of master and depot.',
  ),
  'ticket-start-over': entry(
    503,
    'client',
    false,
    "This ticket can no longer start a download: use the master's link again.",
  ),
  'ticket-expired': entry(403, 'client', false, "The ticket's life is over: use the master's link again."),
  'ticket-wrong-depot': entry(
    403,
    'client',
    false,
    "The ticket does not name this depot at this place of its chain: start again at the master's link.",
  ),
  'ticket-wrong-url': entry(
    403,
    'client',
    false,
    "The ticket was given for another URL: start again at the master's link.",
  ),
  'ticket-wrong-authority': entry(
    403,
    'client',
    false,
    "The ticket was given for another origin: start again at the master's link.",
  ),
  'ticket-wrong-kind': entry(
    403,
    'client',
    false,
    "The ticket was given for another kind of transfer: start again at the master's link.",
  ),
  'parameters-disagree': entry(
    400,
    'client',
    false,
    "The parameters of this address are unknown, doubled or contradict the ticket: start again at the master's link.",
  ),
  'budget-used-up': entry(
    503,
    'client',
    false,
    "The ticket's budget is used up or too small: start again at the master's link, or go direct.",
    true,
  ),
  'caller-not-proved': entry(
    403,
    'way',
    false,
    'The caller did not prove to be the previous depot of the chain: check its key and its clock.',
  ),
  'handover-missing': entry(
    503,
    'client',
    true,
    "No transfer of this download waits here, it was taken or has expired: try again, or use the master's link again.",
  ),
  'job-busy': entry(
    503,
    'client',
    true,
    'This download has as many connections as it may: wait until one has ended.',
  ),
  'client-busy': entry(
    503,
    'client',
    true,
    'Your network has as many transfers here as it may: wait until one has ended.',
  ),
  'client-rate-limited': entry(
    503,
    'client',
    true,
    'Transfers of your network use up the rate that this depot allows them: wait a few seconds.',
  ),
  'origin-crowded': entry(
    503,
    'way',
    true,
    'This depot has as many transfers from the origin as it may: wait until one has ended, or go direct.',
    true,
  ),
  'origin-rate-limited': entry(
    503,
    'way',
    true,
    'Transfers from the origin use up the rate that this depot allows them: wait a few seconds, or go direct.',
    true,
  ),
  'depot-full': entry(
    503,
    'depot',
    true,
    'This depot serves as many transfers as it may: try again in a while.',
    true,
  ),
  'too-many-waiting': entry(
    503,
    'client',
    true,
    'More requests wait on this connection, or from your network, than may: ask for the next when an answer has ended.',
  ),
  'resolver-busy': entry(
    503,
    'depot',
    true,
    'This depot looks up as many names at once as it may, for your network or for all: wait a few seconds, or go direct.',
    true,
  ),
  'shutting-down': entry(503, 'depot', true, 'This depot is shutting down: try again.'),

  'next-depot-crowded': entry(
    503,
    'way',
    true,
    'Your network has as many downloads through the next depot as it may: wait until one has ended, or go direct.',
    true,
  ),
  'next-depot-unknown': entry(
    502,
    'way',
    true,
    'The next depot of the chain is not registered or not up: try again.',
    true,
  ),
  'next-depot-unreachable': entry(
    502,
    'way',
    true,
    'The next depot of the chain refused or broke the connection: try again.',
    true,
  ),
  'next-depot-timeout': entry(
    504,
    'way',
    true,
    'The next depot of the chain did not answer in time: try again.',
    true,
  ),
  'next-depot-tls-failed': entry(
    502,
    'way',
    false,
    "The next depot's certificate was not accepted: check its TLS files.",
    true,
  ),
  'origin-unresolvable': entry(
    502,
    'way',
    true,
    "The origin's name has no address: check the host name, or go direct.",
    true,
  ),
  'origin-unreachable': entry(
    502,
    'way',
    true,
    'The origin refused or broke the connection: try again or go direct.',
    true,
  ),
  'origin-timeout': entry(
    504,
    'way',
    true,
    'The origin did not answer in time: try again or go direct.',
    true,
  ),
  'origin-tls-failed': entry(
    502,
    'origin',
    false,
    "The origin's certificate or TLS was not accepted: the origin must fix it, or go direct.",
    true,
  ),
  'origin-bad-answer': entry(
    502,
    'origin',
    true,
    'The origin gave an answer that is not correct HTTP: try again, or go direct.',
    true,
  ),
  'origin-end-unsure': entry(502, 'depot', false, 'Nothing shows the end of this answer: go direct.', true),
  'origin-changed': entry(
    502,
    'origin',
    false,
    'The file changed at the origin while it was downloaded: start the download again.',
  ),
  'origin-busy': entry(
    503,
    'origin',
    true,
    'The origin takes no more requests for now: wait, then try again.',
  ),
  'origin-not-resumable': entry(
    502,
    'origin',
    true,
    'The transfer broke, and nothing proves what its rest is, or too much of it would have to come again: start again.',
  ),
  'origin-digest-wrong': entry(
    502,
    'origin',
    false,
    'The file is not what the origin says it is (its digest differs): start again from its beginning, then tell the origin.',
  ),
  'origin-unavailable': entry(
    503,
    'origin',
    true,
    'The origin no longer gives the file that this download began with: resume later, or start again.',
  ),
  'ways-used-up': entry(
    502,
    'way',
    true,
    'The transfer broke more often or longer than the depot may repair it: resume, or start again.',
  ),
  'origin-needs-login': entry(
    403,
    'origin',
    false,
    'The origin asks for a login, which Longhaul never carries: go direct.',
    true,
  ),
  'address-not-allowed': entry(
    403,
    'origin',
    false,
    'The origin has an address that depots never connect to: give one on the public Internet.',
  ),
  'redirect-limit': entry(
    502,
    'origin',
    false,
    'The origin redirects in a circle, or over 20 times: give the address at their end, or go direct.',
    true,
  ),
  'redirect-downgrade': entry(
    502,
    'origin',
    false,
    'The origin redirects from https to http, which is never followed: give the address of the file itself, or go direct.',
    true,
  ),
  'redirect-bad-target': entry(
    502,
    'origin',
    false,
    'The origin redirects to something that is not a download address: give the address of the file itself, or go direct.',
    true,
  ),
  'worker-script-refused': entry(
    403,
    'client',
    false,
    'A depot never serves service-worker scripts: load them from the origin itself.',
  ),

  'no-other-chain': entry(
    503,
    'way',
    true,
    'The master knows no other chain for this download: go on from the entry depot alone.',
  ),
  'enrolment-refused': entry(
    403,
    'depot',
    false,
    "The enrolment secret is wrong or the clocks differ: copy it from the master's state folder, set both clocks.",
  ),
  'join-token-malformed': entry(
    0,
    'client',
    false,
    'This is no join token, or not all of one: give the whole line that `longhaul-master create-token` has printed.',
  ),
  'join-token-unknown': entry(
    403,
    'depot',
    false,
    'No master knows this join token, or not any more: make a new one with `longhaul-master create-token`.',
  ),
  'join-token-used': entry(
    403,
    'depot',
    false,
    'Another depot has joined with this token: make a new one, and if you know of no other depot, revoke that one, for the token was stolen.',
  ),
  'join-token-expired': entry(
    403,
    'depot',
    false,
    "The join token's time is over, or the master's clock is wrong: make a new one with `longhaul-master create-token`.",
  ),
  'join-token-revoked': entry(
    403,
    'depot',
    false,
    'The join token was revoked: ask the operator of the master for a new one.',
  ),
  'join-token-elsewhere': entry(
    403,
    'depot',
    false,
    'The join token is for another site or another depot: correct `id` and `site`, or make a token for them.',
  ),
  'join-tokens-full': entry(
    503,
    'master',
    false,
    'There are as many join tokens, or revoked keys, as a master keeps: wait until old tokens have expired.',
  ),
  'depot-not-joined': entry(
    403,
    'depot',
    false,
    'This depot has not joined the overlay with its key: run `longhaul-depot join` with a token, or configure master.enrolmentSecretFile where the master takes that.',
  ),
  'depot-key-revoked': entry(
    403,
    'depot',
    false,
    "This depot's key was revoked: remove its key file, and join with a new token for this depot.",
  ),
  'depot-key-damaged': entry(
    500,
    'depot',
    false,
    "The depot's key file cannot be used: restore it from a copy, or remove it and join with a new token for this depot.",
  ),
  'depot-unknown': entry(404, 'depot', false, 'This depot is not registered here: register it first.'),
  'depot-key-mismatch': entry(
    409,
    'depot',
    false,
    "This depot id is registered with another key: remove it from the master's registry or restore the depot's state.",
  ),
  'depot-registry-full': entry(
    503,
    'master',
    false,
    'This master has as many depots as it takes: revoke those that are gone for good, each with `longhaul-master revoke-depot`.',
  ),
  'depot-unreachable': entry(
    502,
    'depot',
    true,
    'The master cannot reach the depot at the address that it registers: open its port in firewall and NAT, or correct `public`.',
  ),
  'depot-not-proved': entry(
    502,
    'depot',
    true,
    'Somebody else answers at the address that the depot registers: correct `public` and what stands before the depot.',
  ),
  'too-many-challenges': entry(
    429,
    'client',
    true,
    'Your network asks this depot too often to prove its address: wait a minute.',
  ),
  'depot-twice': entry(
    409,
    'depot',
    false,
    "Two running processes have this depot's id and key: end one of them, and give each machine an id and a state folder of its own.",
  ),
  'request-replayed': entry(
    409,
    'depot',
    false,
    'The signed request was here before: a depot signs each of its requests anew.',
  ),
  'depot-address-not-allowed': entry(
    403,
    'way',
    false,
    "The depot's address is none that this overlay connects to: give it a public one, or name its network in addresses.overlayNetworks of master and depots.",
  ),
  'depot-signature-wrong': entry(
    401,
    'depot',
    false,
    'The request is not signed by the registered key: check key and clock.',
  ),
  'master-unreachable': entry(
    503,
    'master',
    true,
    'The depot could not reach its master: check the address and the network.',
  ),
  'master-bad-answer': entry(
    502,
    'master',
    true,
    'The answer did not come from the master or does not fit: check the secret.',
  ),

  'config-invalid': entry(
    0,
    'depot',
    false,
    'The configuration has mistakes: correct every one that is listed.',
  ),
  'certificate-ending': entry(
    0,
    'depot',
    false,
    'The certificate expires soon, and is refused by everybody from then on: renew it, then send SIGHUP.',
  ),
  'key-renewal-waits': entry(
    0,
    'master',
    true,
    'The key that signs is due to be replaced and goes on until one before it is of no use any more, for a master has eight at most: let keys.renewSeconds be a seventh of tickets.lifeSeconds and a day, or more.',
  ),
  'entry-group-differs': entry(
    0,
    'depot',
    false,
    "No client is led to this depot by its entry group's name, which is another one in the master's configuration: give both the same id and host, and TLS to both or to none.",
  ),
  'prefixes-invalid': entry(
    0,
    'master',
    false,
    'A file of prefixes cannot be used: correct the lines that are named; a master that runs keeps what it had, SIGHUP lets it read again.',
  ),
  'command-line-wrong': entry(
    0,
    'depot',
    false,
    'The command line is not understood: correct it, --help tells what there is.',
  ),
  'port-in-use': entry(
    0,
    'depot',
    false,
    'Another program listens at this address already: end it, or choose another port (listen.port).',
  ),
  'port-privileged': entry(
    0,
    'depot',
    false,
    'This account may not listen on so low a port: give the service CAP_NET_BIND_SERVICE, or choose a port from 1024 on (listen.port).',
  ),
  'address-not-here': entry(
    0,
    'depot',
    false,
    "This machine does not have the address to listen on: give one of its own, or '::' or 0.0.0.0 for all of them (listen.host).",
  ),
  'descriptors-out': entry(
    0,
    'depot',
    true,
    'The service, or its machine, has as many connections and files open as it may, so nobody is judged by what fails for that: give it more descriptors (LimitNOFILE), or lower its limits.',
  ),
  'no-way-out': entry(
    0,
    'depot',
    true,
    "Nobody could be reached there for want of something on this side, so nobody is judged by it: look at this machine's routes, name servers, ports and memory.",
  ),
  'fact-malformed': entry(
    0,
    'master',
    false,
    'What another master, or the file of facts, tells does not have the form that is expected: compare their versions.',
  ),
  'fact-not-its-own': entry(
    0,
    'master',
    false,
    "A master tells another one's facts as if it had learned them: look who else has its name or its key.",
  ),
  'fact-of-far-epoch': entry(
    0,
    'master',
    false,
    'A master tells of an epoch of another one that lies years ahead: look at the clocks of both, and whose that master is.',
  ),
  'fact-outlived': entry(
    0,
    'master',
    false,
    'A fact is older than facts of its kind may be: nothing need be done.',
  ),
  'fact-stale': entry(
    0,
    'master',
    true,
    'What a master told has come late, as after a cut of the network: the newest is asked for.',
  ),
  'fact-room-full': entry(
    0,
    'master',
    true,
    'More is told of one kind than is kept: look which master tells so much.',
  ),
  'bus-no-answer': entry(
    0,
    'master',
    true,
    'No other master has answered on the bus: the view of this one is used until one does.',
  ),
  'bus-unreachable': entry(
    0,
    'master',
    true,
    'There is no connection to a NATS server, so nothing is told and heard; plans go on from what is known: look whether those of bus.servers run, and at their logs.',
  ),
  'bus-refused': entry(
    0,
    'master',
    true,
    'The NATS server does not let this master in, or not tell or hear what masters do: compare its permissions, certificates and max_payload with what it was given for this site.',
  ),
  'bus-overfull': entry(
    0,
    'master',
    true,
    'More goes over the bus than is taken, so some was left out, and is asked for again: look how busy NATS servers, network and masters are.',
  ),
  'bus-malformed': entry(
    0,
    'master',
    false,
    'What came over the bus is not what masters tell each other: look who else may publish there.',
  ),
  'state-unusable': entry(
    500,
    'depot',
    false,
    'The state folder, or a file in it, cannot be used: give it to the account of the service, make room, or choose another one (stateDir).',
  ),
  'state-damaged': entry(
    0,
    'depot',
    false,
    'A file that the service keeps in its state folder (stateDir) is damaged, and is left as it is: restore it from a copy, or do what is said beside its name.',
  ),
  'state-in-use': entry(
    0,
    'depot',
    false,
    'Another service that runs has this state folder: end it, or give each service a folder of its own (stateDir).',
  ),
  'state-not-saved': entry(
    0,
    'depot',
    false,
    'The service ended before all that it keeps was written: what it learned last is lost. Look why writing takes so long (stateDir).',
  ),
  internal: entry(
    500,
    'depot',
    true,
    "Something went wrong inside: try again, the operator's log has the details.",
    true,
  ),
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
  /** How long an origin asks to be left alone. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A registered failure. Returned inside a `Result` where it is expected, thrown where I/O breaks. */
export class LonghaulError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly depot: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, context: ErrorContext = {}) {
    super(context.detail ? `${ERRORS[code].message} (${context.detail})` : ERRORS[code].message, {
      cause: context.cause,
    });
    this.name = 'LonghaulError';
    this.code = code;
    this.detail = context.detail;
    this.depot = context.depot;
    this.retryAfterSeconds = context.retryAfterSeconds;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retry(): boolean {
    return ERRORS[this.code].retry;
  }

  get blame(): Blame {
    return ERRORS[this.code].blame;
  }
}

/**
 * Whether a download that failed so may succeed over another way: the way failed, or a depot on it refuses.
 * Whatever that depot names as its reason is its own word, and its own configuration; where the client or the
 * origin is to blame, this depot finds so itself.
 */
export function isWayFailure(failure: unknown): failure is LonghaulError {
  return failure instanceof LonghaulError && (failure.blame === 'way' || failure.depot !== undefined);
}

/** Wraps anything that was thrown; an unregistered failure becomes `fallback` with the original as its cause. */
export function asLonghaulError(thrown: unknown, fallback: ErrorCode = 'internal'): LonghaulError {
  return thrown instanceof LonghaulError ? thrown : new LonghaulError(fallback, { cause: thrown });
}

/** What is said of the origin itself, by whoever could not reach it. */
const OF_THE_ORIGIN: ReadonlySet<ErrorCode> = new Set([
  'origin-unresolvable',
  'origin-unreachable',
  'origin-timeout',
]);

/**
 * Of the failures of all ways to one origin, in their order, the one to tell: the first that speaks of the
 * origin, else the last.
 */
export function mostTelling(failures: readonly LonghaulError[]): LonghaulError | undefined {
  return failures.find(({ code }) => OF_THE_ORIGIN.has(code)) ?? failures.at(-1);
}
