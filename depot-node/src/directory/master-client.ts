import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import {
  CLOCK_SKEW_SECONDS,
  type Directory,
  directorySchema,
  type EnrolledAnswer,
  type ErrorCode,
  enrolledAnswerSchema,
  type FollowUpRequest,
  followUpAnswerSchema,
  HEADERS,
  type HeartbeatRequest,
  isWireErrorCode,
  type JoinRequest,
  LonghaulError,
  MAX_LISTED_DEPOTS,
  type NewKeyRequest,
  newKeyText,
  type RegisterRequest,
  type TrialAnswer,
  trialAnswerSchema,
} from '@longhaul/shared';
import { awaitAnswer, headerOf, parseJson, request, signRequest } from '@longhaul/shared/service';
import type * as z from 'zod/mini';
import type { Identity } from '../identity.ts';
import type { Dial } from '../sockets/dial.ts';
import type { Trust } from '../sockets/trust.ts';
import { MasterChoice } from './master-choice.ts';
import type { MastersProof } from './masters-proof.ts';
import { masterUnreachable, reachMaster } from './reach-master.ts';

/** A directory of a thousand depots is about 200 KB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Half of what clocks may differ: from there on it is worth a word. */
const HINT_SECONDS = CLOCK_SKEW_SECONDS / 2;
/** Two processes never have the same epoch by chance. */
const EPOCH_BYTES = 12;
/** The same of a heartbeat over the connection of the one before, which may be dead: then a new one is tried. */
const KEPT_ANSWER_TIMEOUT_MS = 2_000;
/** A master answers from memory; what takes longer than this is not going to come. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The same where there is another one to ask: a depot is not lost meanwhile. */
const TURN_TIMEOUT_MS = 3_000;
/** What another master than this depot's own may say without being one, or of the same overlay. */
const NO_MASTER: ReadonlySet<ErrorCode> = new Set(['master-bad-answer', 'enrolment-refused']);
/** What a master says of a request that is too far off its clock, too. */
const FOR_ITS_CLOCK: ReadonlySet<ErrorCode> = new Set(['enrolment-refused', 'depot-signature-wrong']);

/** What no master answers to a depot at its own paths. */
const NOT_OF_MASTERS: ReadonlySet<ErrorCode> = new Set(['not-found', 'method-not-allowed']);

/** A refusal by a master whose clock is so far off this one that it refuses everything; another one's may be right. */
class ClocksApart extends LonghaulError {}

interface MasterClientComponents {
  /** The master that this depot belongs to. */
  readonly masterUrl: string;
  /** All that are known; they are asked while that one cannot be reached. */
  readonly otherMasters?: () => readonly string[];
  readonly identity: Identity;
  /** Read for each exchange, so that it may be replaced. */
  readonly proof: MastersProof;
  readonly dial: Dial;
  readonly trust: Trust;
  readonly nowMs: () => number;
}

/**
 * A depot's conversation with its master, or while that is away with another one. Every answer is proved,
 * whatever carried it.
 */
export class MasterClient {
  readonly #components: MasterClientComponents;
  readonly #epoch = randomBytes(EPOCH_BYTES).toString('base64url');
  readonly #choice: MasterChoice;
  #sequence = 0;
  /**
   * The connection that heartbeats come over. The master sees at once when it breaks, so it has nothing else
   * to wait for.
   */
  #line: { readonly masterUrl: string; readonly stream: Duplex } | undefined;
  #isClosed = false;

  constructor(components: MasterClientComponents) {
    this.#components = components;
    const { masterUrl: home, otherMasters: others = () => [], nowMs } = components;
    this.#choice = new MasterChoice({ home, others, nowMs });
  }

  /** Registers address and key. Rejects with the master's code, `master-unreachable` or `master-bad-answer`. */
  async register(self: Omit<RegisterRequest, 'id' | 'publicKey'>): Promise<Directory> {
    const { identity } = this.#components;
    const body: RegisterRequest = { id: identity.id, publicKey: identity.publicKey, ...self };
    return this.#post(directorySchema, '/v1/depots', body, { isEnrolment: true });
  }

  /** What the master would say to this registration; it changes nothing. Rejects as `register` does. */
  async tryRegistration(self: Omit<RegisterRequest, 'id' | 'publicKey'>): Promise<TrialAnswer> {
    const { identity } = this.#components;
    const body: RegisterRequest = { id: identity.id, publicKey: identity.publicKey, ...self };
    return this.#post(trialAnswerSchema, '/v1/depots/trial', body, { isEnrolment: true });
  }

  /** Lets the master know this depot's key by a token, which signs in the proof. Rejects as `register` does. */
  async join(site: string, token: string): Promise<EnrolledAnswer> {
    const { id, publicKey } = this.#components.identity;
    const body: JoinRequest = { id, publicKey, site, token };
    return this.#post(enrolledAnswerSchema, '/v1/depots/join', body, { isEnrolment: true });
  }

  /** Lets the master know another key in the place of `before`. Rejects as `register` does. */
  async renewKey(
    before: string,
    { publicKey, sign }: Pick<Identity, 'publicKey' | 'sign'>,
  ): Promise<EnrolledAnswer> {
    const signature = sign(newKeyText(this.#components.identity.id, before, publicKey));
    const body: NewKeyRequest = { publicKey, signature };
    return this.#post(enrolledAnswerSchema, this.#pathOf('key'), body);
  }

  /** Reports load and measurements; gives the current directory. */
  async heartbeat(report: HeartbeatRequest): Promise<Directory> {
    return this.#post(directorySchema, this.#pathOf('heartbeat'), report, { isKept: true });
  }

  /** Keeps no connection from now on. */
  close(): void {
    this.#isClosed = true;
    this.#line?.stream.destroy();
  }

  /**
   * A ticket of the same job for `url`: the target of an origin's redirect, or with `avoid` (depots that
   * failed) the same URL over chains that are planned anew from this depot on. Rejects with `no-other-chain`
   * when there is none.
   */
  async followUp(ticket: string, url: string, avoid?: readonly string[]): Promise<string> {
    const newest = avoid?.slice(-MAX_LISTED_DEPOTS);
    const body: FollowUpRequest = { ticket, url, ...(newest ? { avoid: newest } : {}) };
    const { ticket: next } = await this.#post(followUpAnswerSchema, this.#pathOf('follow-ups'), body);
    return next;
  }

  #pathOf(action: string): string {
    return `/v1/depots/${this.#components.identity.id}/${action}`;
  }

  /** Asks one master after the other, until one has answered. Rejects with what the first one of them came to. */
  async #post<Schema extends z.ZodMiniType>(
    schema: Schema,
    path: string,
    value: object,
    { isEnrolment = false, isKept = false }: { isEnrolment?: boolean; isKept?: boolean } = {},
  ): Promise<z.output<Schema>> {
    const urls = this.#choice.inTurn();
    let first: LonghaulError | undefined;
    for (const [index, url] of urls.entries()) {
      const timeoutMs = index < urls.length - 1 ? TURN_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
      try {
        const call = { masterUrl: url, timeoutMs, isKept, isEnrolment };
        const answer = await this.#postTo(call, schema, path, value);
        this.#choice.noteAnswer(url);
        return answer;
      } catch (failure) {
        if (!(failure instanceof LonghaulError)) throw failure;
        const isOther = url !== this.#components.masterUrl;
        const isNoAnswer = failure.code === 'master-unreachable' || failure instanceof ClocksApart;
        if (!isNoAnswer && !(isOther && NO_MASTER.has(failure.code))) throw failure;
        this.#choice.noteFailure(url);
        first ??= failure;
      }
    }
    throw first ?? new LonghaulError('master-unreachable');
  }

  async #postTo<Schema extends z.ZodMiniType>(
    { masterUrl, timeoutMs, isKept, isEnrolment }: MasterCall,
    schema: Schema,
    path: string,
    value: object,
  ): Promise<z.output<Schema>> {
    const { identity, proof, nowMs } = this.#components;
    const body = JSON.stringify(value);
    const signed = () => {
      this.#sequence += 1;
      const stamp = { timeMs: nowMs(), epoch: this.#epoch, sequence: this.#sequence };
      const enrolment = isEnrolment ? proof.enrolment : undefined;
      const request = { method: 'POST', path, stamp, body };
      return { ...signRequest(request, identity.sign, enrolment), ...proof.headers };
    };
    let headers = signed();
    const line = isKept ? this.#takeLine(masterUrl) : undefined;
    // The master may have closed it a moment ago: what counts is what a new connection says.
    const kept =
      line && (await this.#exchangeOver(line, masterUrl, path, body, headers).catch(() => undefined));
    if (line && !kept) headers = signed();
    const answer =
      kept ?? (await this.#exchange({ masterUrl, timeoutMs, isKept, isEnrolment }, path, body, headers));
    if (answer.status !== 200) {
      const code =
        answer.error !== undefined && isWireErrorCode(answer.error) ? answer.error : 'master-bad-answer';
      const apartSeconds = this.#aheadSeconds(answer);
      const isApart = FOR_ITS_CLOCK.has(code) && Math.abs(apartSeconds) > CLOCK_SKEW_SECONDS;
      const Refusal = isApart ? ClocksApart : LonghaulError;
      const isMaster = !NOT_OF_MASTERS.has(code) && !(code === 'master-bad-answer' && answer.status === 404);
      const who =
        isMaster || masterUrl !== this.#components.masterUrl
          ? 'the master'
          : 'what answers at master.url is no master: it';
      throw new Refusal(code, { detail: `${who} answered ${answer.status}${clockHint(apartSeconds)}` });
    }
    const signature = headers[HEADERS.signature] ?? '';
    if (!proof.isProved(signature, answer.text, answer.proof))
      throw new LonghaulError('master-bad-answer', { detail: 'its proof is wrong' });
    const read = schema.safeParse(parseJson(answer.text));
    if (!read.success) throw new LonghaulError('master-bad-answer', { detail: 'it does not fit' });
    return read.data;
  }

  /** How far this depot's clock is ahead of the master's; NaN where that does not tell. */
  #aheadSeconds({ date }: MasterAnswer): number {
    return Math.round((this.#components.nowMs() - Date.parse(date ?? '')) / 1000);
  }

  /** The connection to this master. One to another master is let go: this depot is spoken of here now. */
  #takeLine(masterUrl: string): Duplex | undefined {
    const line = this.#line;
    this.#line = undefined;
    if (line?.masterUrl === masterUrl && !line.stream.destroyed) return line.stream;
    line?.stream.destroy();
    return undefined;
  }

  /** Keeps a connection for the next heartbeat, unless the master has closed it. */
  #keepLine(masterUrl: string, stream: Duplex): void {
    if (this.#isClosed || stream.destroyed || stream.readableEnded) {
      stream.destroy();
      return;
    }
    if (this.#line?.stream !== stream) this.#line?.stream.destroy();
    this.#line = { masterUrl, stream };
    stream.resume();
  }

  /** Looks after a connection that heartbeats are to come over, for as long as it stands. */
  #watchLine(stream: Duplex): void {
    const drop = () => {
      if (this.#line?.stream === stream) this.#line = undefined;
      stream.destroy();
    };
    stream.on('error', drop).once('end', drop).once('close', drop);
  }

  async #exchangeOver(
    line: Duplex,
    masterUrl: string,
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<MasterAnswer> {
    const signal = AbortSignal.timeout(KEPT_ANSWER_TIMEOUT_MS);
    try {
      const answer = await exchange(line, new URL(masterUrl), path, body, headers, signal, true);
      this.#keepLine(masterUrl, line);
      return answer;
    } catch (failure) {
      line.destroy();
      throw failure;
    }
  }

  async #exchange(
    { masterUrl, timeoutMs, isKept }: MasterCall,
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<MasterAnswer> {
    const { dial, trust } = this.#components;
    const signal = AbortSignal.timeout(timeoutMs);
    const stream = await reachMaster(masterUrl, { dial, trust }, signal);
    if (isKept) this.#watchLine(stream);
    try {
      const answer = await exchange(stream, new URL(masterUrl), path, body, headers, signal, isKept);
      if (isKept) this.#keepLine(masterUrl, stream);
      else stream.destroy();
      return answer;
    } catch (cause) {
      stream.destroy();
      throw masterUnreachable(masterUrl, cause);
    }
  }
}

/** What explains refusals of right secrets and keys: the clocks. */
function clockHint(aheadSeconds: number): string {
  if (Number.isNaN(aheadSeconds) || Math.abs(aheadSeconds) < HINT_SECONDS) return '';
  return `, and its clock is ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'behind' : 'ahead of'} this one`;
}

/** One master's turn. */
interface MasterCall {
  readonly masterUrl: string;
  readonly timeoutMs: number;
  /** Whether the next exchange may come over the same connection. */
  readonly isKept: boolean;
  /** Whether it says that this depot may be one. */
  readonly isEnrolment: boolean;
}

interface MasterAnswer {
  readonly status: number;
  readonly error: string | undefined;
  readonly proof: string | undefined;
  readonly date: string | undefined;
  readonly text: string;
}

async function exchange(
  stream: Duplex,
  base: URL,
  path: string,
  body: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  isKept: boolean,
): Promise<MasterAnswer> {
  const outgoing = request({
    method: 'POST',
    path: `${base.pathname.replace(/\/$/, '')}${path}`,
    headers: {
      host: base.host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      connection: isKept ? 'keep-alive' : 'close',
      ...headers,
    },
    createConnection: () => stream,
    signal,
  });
  const answering = awaitAnswer(outgoing);
  outgoing.end(body);
  const incoming = await answering;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) throw new LonghaulError('master-bad-answer');
    chunks.push(chunk);
  }
  return {
    status: incoming.statusCode ?? 0,
    error: headerOf(incoming, HEADERS.error),
    proof: headerOf(incoming, HEADERS.signature),
    date: headerOf(incoming, 'date'),
    text: Buffer.concat(chunks).toString('utf8'),
  };
}
