import { createHash, type Hash } from 'node:crypto';
import { LonghaulError } from '@longhaul/shared';
import type { DigestAlgorithm, FlowDigest } from '../../digests/flow-digest.ts';
import { RunningDigest } from '../../digests/running-digest.ts';
import { type AnswerHead, showsRanges } from '../../origin/representation.ts';

interface StatedDigest {
  readonly algorithm: DigestAlgorithm;
  readonly base64: string;
}

/** The names that RFC 9530 and RFC 3230 use, best first. */
const ALGORITHMS = [
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
  ['md5', 'md5'],
] as const;

/**
 * The digest that an origin states of a whole file in an answer: `Repr-Digest` and `Content-Digest` (RFC
 * 9530), `Digest` (RFC 3230), `Content-MD5` (RFC 1864).
 */
function statedDigest({ headers }: Pick<AnswerHead, 'headers'>): StatedDigest | undefined {
  for (const name of ['repr-digest', 'digest', 'content-digest']) {
    const stated = parseDigests(String(headers[name] ?? ''));
    if (stated) return stated;
  }
  const md5 = headers['content-md5'];
  return typeof md5 === 'string' && isDigest(md5.trim(), 'md5')
    ? { algorithm: 'md5', base64: md5.trim() }
    : undefined;
}

function parseDigests(text: string): StatedDigest | undefined {
  const members = text.split(',').map((member) => /^\s*([a-z0-9-]+)=:?([A-Za-z0-9+/=]+):?\s*$/i.exec(member));
  for (const [name, algorithm] of ALGORITHMS) {
    const base64 = members.find((member) => member?.[1]?.toLowerCase() === name)?.[2];
    if (base64 !== undefined && isDigest(base64, algorithm)) return { algorithm, base64 };
  }
  return undefined;
}

const LENGTHS: Readonly<Record<StatedDigest['algorithm'], number>> = { sha256: 32, sha512: 64, md5: 16 };

/**
 * Whether a text is a digest in base64. In hexadecimal, as some origins write it, it is another base64, and
 * too long.
 */
function isDigest(text: string, algorithm: StatedDigest['algorithm']): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === LENGTHS[algorithm] && bytes.toString('base64') === text;
}

/** Begins a digest beside this thread; `undefined` where that cannot be. */
export type OpenDigest = (algorithm: DigestAlgorithm) => FlowDigest | undefined;

/** The digest of a whole body that passes, and whether it is what the origin states. */
export class BodyDigest {
  /** Made by a relay thread, which sees the bytes that it moves. */
  readonly flow: FlowDigest | undefined;
  readonly #hash: Hash | undefined;
  readonly #stated: StatedDigest | undefined;

  constructor(stated: StatedDigest | undefined, open: OpenDigest) {
    const algorithm = stated?.algorithm ?? 'sha256';
    this.#stated = stated;
    this.flow = open(algorithm);
    if (!this.flow) this.#hash = createHash(algorithm);
  }

  /** Takes in bytes that passed this thread. */
  update(chunk: Buffer): void {
    this.flow?.add(chunk);
    this.#hash?.update(chunk);
  }

  /**
   * The SHA-256 in hexadecimal, where it is that, and whether the origin stated another digest. Ends the
   * calculation. Throws `internal` where the origin stated one and the thread that made it has died.
   */
  async finish(): Promise<{ readonly sha256: string | undefined; readonly isWrong: boolean }> {
    const made = (await this.flow?.finish()) ?? this.#hash?.digest();
    if (!made && this.#stated) throw new LonghaulError('internal', { detail: 'a relay thread has died' });
    const { algorithm = 'sha256', base64 } = this.#stated ?? {};
    const digest = made && Buffer.from(made);
    return {
      sha256: algorithm === 'sha256' ? digest?.toString('hex') : undefined,
      isWrong: base64 !== undefined && digest?.toString('base64') !== base64,
    };
  }

  /** Forgets it. */
  drop(): void {
    this.flow?.drop();
  }
}

/** Which digests a depot makes of what passes it. Each costs, and takes a body away from the kernel. */
export interface DigestChoice {
  /**
   * `stated`: of whole files whose origin states one; `passing`: also of those that pass this process anyway;
   * `always`: of all.
   */
  readonly ofFile: 'stated' | 'passing' | 'always';
  /** Of what a client has, to go on by the whole: `needed` where no part of the file can be asked for. */
  readonly ofGiven: 'never' | 'needed' | 'always';
}

/** What happens to the bytes of a body on their way, beside being sent. */
export interface BodyCare {
  /** Of a whole file; `undefined` where a part is sent or nobody wants it. */
  readonly digest: BodyDigest | undefined;
  /** Of what the client has so far; `undefined` where it is not wanted. */
  readonly given: RunningDigest | undefined;
  /** Whether the digests must see all bytes. */
  readonly mustSee: boolean;
  /** Whether the end of the file must wait until the digest has been checked. */
  readonly holdsBack: boolean;
}

/** A body that is only sent. */
export const NO_CARE: BodyCare = { digest: undefined, given: undefined, mustSee: false, holdsBack: false };

/** A body that begins. */
interface BegunBody {
  /** The status that the client gets. */
  readonly statusCode: number;
  /** The headers that the client gets, as far as they are the origin's. */
  readonly headers: AnswerHead['headers'];
  readonly isBlock: boolean;
  /** Whether it has a length and a strong validator, so that a part of exactly this version can be asked for. */
  readonly hasVersion: boolean;
  /** Where it is known. */
  readonly sizeBytes: number | undefined;
}

/** Whether no part of a body's file can be asked for. An origin that has ranges says so, or has just proved it. */
export function isWholeOnly(body: BegunBody): boolean {
  return !body.hasVersion || !(body.isBlock || showsRanges(body));
}

/** A shorter body is digested at once: to hand it to a thread costs more. */
const LEAST_BYTES_FOR_THREAD = 262_144;

/** The care that a body needs. */
export function careFor(body: BegunBody, { ofFile, ofGiven }: DigestChoice, open: OpenDigest): BodyCare {
  const isFile = body.statusCode === 200;
  const stated = isFile ? statedDigest(body) : undefined;
  const isFileDigested = stated !== undefined || (isFile && ofFile !== 'stated');
  const isGiven = isFile || body.statusCode === 206;
  const isNeeded = ofGiven === 'needed' && isWholeOnly(body);
  const keepsGiven = isGiven && (ofGiven === 'always' || isNeeded);
  const isLong = body.sizeBytes === undefined || body.sizeBytes >= LEAST_BYTES_FOR_THREAD;
  return {
    digest: isFileDigested ? new BodyDigest(stated, isLong ? open : () => undefined) : undefined,
    given: keepsGiven ? new RunningDigest() : undefined,
    mustSee: keepsGiven || stated !== undefined || (isFile && ofFile === 'always'),
    holdsBack: stated !== undefined,
  };
}
