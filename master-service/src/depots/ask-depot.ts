import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  type AddressPolicy,
  addressProofText,
  challengeAnswerSchema,
  challengeText,
  decodeBase64url,
  depotBaseUrl,
  encodeBase64url,
  formatAuthority,
  formatChallengeTarget,
  formatChallengeWord,
  HEADERS,
  LonghaulError,
  ok,
  plainAddress,
  type Result,
  refuse,
  refuseOverlayAddress,
} from '@longhaul/shared';
import {
  awaitAnswer,
  HostsFile,
  hostsPath,
  parseJson,
  tellingFailure,
  verifierFor,
} from '@longhaul/shared/service';
import type { Signer } from '../keys/key-ring.ts';
import type { ProvedPlace } from './address-proof.ts';
import type { DepotRecord } from './depot-store.ts';
import { type FoundAddresses, onlyFamilyOf } from './only-family.ts';

/** A depot answers at once; a registration waits for it, and its depot waits 10 s for that. */
const ASK_TIMEOUT_MS = 5_000;
/** Addresses of one host that are asked: a machine has one of each kind. */
const MAX_ADDRESSES = 4;
/** An answer is an id and a signature. */
const MAX_ANSWER_BYTES = 1_024;
const CHALLENGE_BYTES = 32;

/**
 * Asks whoever is where a depot says it is to prove that it has the depot's key. Says where it did;
 * `depot-address-not-allowed`, `depot-unreachable` or `depot-not-proved` where none did.
 */
export type AskDepot = (depot: DepotRecord, where?: AskedWhere) => Promise<Result<ProvedPlace>>;

/** Where a depot is asked that has been there before, and for how long. */
export interface AskedWhere {
  readonly addresses: readonly string[];
  readonly timeoutMs: number;
}

interface AskDepotInit {
  readonly policy: AddressPolicy;
  /** Asked first ... */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** ... then this file, and then DNS; left out, this machine's. */
  readonly hostsFile?: string;
  /** In whose name depots are asked: strangers may have used up what a depot answers to them. */
  readonly signer: Signer;
  readonly now: () => number;
}

export function createAskDepot(init: AskDepotInit): AskDepot {
  const { policy, names } = init;
  const hosts = new HostsFile(init.hostsFile ?? hostsPath(), () => performance.now());
  const written = (host: string, port: number) => {
    if (Object.hasOwn(names, host)) return names[host];
    // Machines write their own name down, for themselves alone.
    const found = hosts.find(host);
    return found?.some((address) => !refuseOverlayAddress(address, port, policy)) ? found : undefined;
  };
  return async (depot, where) => {
    const { host, port } = depot;
    const signal = AbortSignal.timeout(where?.timeoutMs ?? ASK_TIMEOUT_MS);
    const known = where?.addresses ?? (isIP(host) ? [host] : written(host, port));
    const looked = known ? ok({ addresses: known, isAll: false }) : await lookUp(host, signal);
    if (!looked.ok) {
      const forbidden = hosts.find(host);
      return forbidden ? refuse('depot-address-not-allowed', forbidden.join(', ')) : looked;
    }
    const found = looked.value.addresses;
    const permitted = found.filter((address) => !refuseOverlayAddress(address, port, policy));
    if (permitted.length === 0) return refuse('depot-address-not-allowed', found.join(', '));
    const asked = permitted.slice(0, MAX_ADDRESSES);
    const answers = await Promise.all(asked.map((address) => askAt(depot, address, init, signal)));
    const proved = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    const failed = tellingFailure(answers.flatMap((answer) => (answer.ok ? [] : [answer.error])));
    if (failed && proved.length === 0) return { ok: false, error: failed };
    const onlyFamily = onlyFamilyOf(host, looked.value, new Map(asked.map((one, at) => [one, answers[at]])));
    return ok({ addresses: proved, ...(onlyFamily ? { onlyFamily } : {}) });
  };
}

/** What DNS says of a name that there is none, or nothing of this kind. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * The addresses of a name by DNS; refuses with `depot-unreachable` where it has none, and says where DNS has
 * failed.
 */
async function lookUp(host: string, signal: AbortSignal): Promise<Result<FoundAddresses>> {
  // Not the system's lookup: it cannot be given up, and holds a thread that others wait for.
  const resolver = new Resolver();
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  signal.removeEventListener('abort', cancel);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failures = answers.flatMap((answer): unknown[] =>
    answer.status === 'rejected' && !NOTHING.has(reasonOf(answer.reason)) ? [answer.reason] : [],
  );
  if (found.length > 0) return ok({ addresses: found, isAll: failures.length === 0 });
  if (failures.length === 0) return refuse('depot-unreachable', `${host} has no address`);
  const cause = tellingFailure(failures);
  const detail = `no name server has told the address of ${host} (${reasonOf(cause)})`;
  return { ok: false, error: new LonghaulError('depot-unreachable', { detail, cause }) };
}

async function askAt(
  depot: DepotRecord,
  address: string,
  init: AskDepotInit,
  signal: AbortSignal,
): Promise<Result<string>> {
  const { policy } = init;
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  let stream: Duplex | undefined;
  try {
    const socket = await open(() => connect({ host: address, port: depot.port }), 'connect', signal);
    stream = socket;
    const connected = socket.remoteAddress ?? '';
    if (refuseOverlayAddress(connected, depot.port, policy))
      return refuse('depot-address-not-allowed', connected);
    if (depot.tls) stream = await secure(socket, depot.host, signal);
    const word = wordFor(depot.id, challenge, init);
    const answer = await ask(stream, depot, { challenge, word }, signal);
    return answer.ok ? ok(plainAddress(connected)) : answer;
  } catch (cause) {
    const place = depotBaseUrl({ ...depot, host: address });
    const reason = signal.aborted ? 'no answer in time' : reasonOf(cause);
    // What Node's parser says of something that is no HTTP.
    const isForeign = reason.startsWith('HPE_');
    const code = isForeign ? 'depot-not-proved' : 'depot-unreachable';
    return { ok: false, error: new LonghaulError(code, { detail: `${place}: ${reason}`, cause }) };
  } finally {
    stream?.destroy();
  }
}

/** The certificate is not looked at here: the signature proves more, and the depot's clients check it themselves. */
function secure(socket: Socket, host: string, signal: AbortSignal): Promise<Duplex> {
  const servername = isIP(host) ? {} : { servername: host };
  const begin = () => connectTls({ socket, ...servername, rejectUnauthorized: false });
  return open(begin, 'secureConnect', signal);
}

/** Says to a depot that it is a master who asks. */
function wordFor(depot: string, challenge: string, { signer, now }: AskDepotInit): string {
  const { keyId, sign } = signer.current;
  const timeMs = now();
  const signature = encodeBase64url(sign(challengeText(depot, challenge, timeMs)));
  return formatChallengeWord({ timeMs, keyId, signature });
}

/** What a depot is asked with. */
interface Question {
  readonly challenge: string;
  readonly word: string;
}

async function ask(
  stream: Duplex,
  depot: DepotRecord,
  question: Question,
  signal: AbortSignal,
): Promise<Result<void>> {
  const place = depotBaseUrl(depot);
  const { statusCode, text } = await exchange(stream, depot, question, signal);
  const answer = challengeAnswerSchema.safeParse(parseJson(text));
  if (statusCode !== 200 || !answer.success)
    return refuse('depot-not-proved', `no depot answers at ${place}`);
  const { id, signature } = answer.data;
  if (id !== depot.id) return refuse('depot-not-proved', `the depot ${id} answers at ${place}`);
  const signed = Buffer.from(addressProofText(id, depot, question.challenge));
  const isProved = verifierFor(depot.publicKey)?.(signed, decodeBase64url(signature) ?? new Uint8Array());
  return isProved
    ? ok(undefined)
    : refuse('depot-not-proved', `another key, or for another address, at ${place}`);
}

/** What a socket becomes once `ready` has happened. Whatever prevents that leaves no descriptor behind. */
function open<Opened extends Socket>(
  begin: () => Opened,
  ready: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = begin();
    const onAbort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    socket.once('close', () => signal.removeEventListener('abort', onAbort));
    socket.on('error', reject);
    socket.once(ready, () => resolve(socket));
  });
}

async function exchange(
  stream: Duplex,
  { host, port }: DepotRecord,
  { challenge, word }: Question,
  signal: AbortSignal,
): Promise<{ statusCode: number; text: string }> {
  const outgoing = request({
    path: formatChallengeTarget(challenge),
    headers: { host: formatAuthority(host, port), connection: 'close', [HEADERS.signature]: word },
    createConnection: () => stream,
    signal,
  });
  const answering = awaitAnswer(outgoing);
  outgoing.end();
  const answer = await answering;
  return { statusCode: answer.statusCode ?? 0, text: await readStart(answer) };
}

/** A body as far as an answer may go; what is longer is none. */
async function readStart(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  return text;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return String(cause);
}
