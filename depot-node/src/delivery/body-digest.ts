import { createHash, type Hash } from 'node:crypto';
import type { AnswerHead } from '../origin/representation.ts';

interface StatedDigest {
  readonly algorithm: 'sha256' | 'sha512' | 'md5';
  readonly base64: string;
}

/** The names that RFC 9530 and RFC 3230 use, best first. */
const ALGORITHMS = [
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
  ['md5', 'md5'],
] as const;

const OF_THE_FILE = ['repr-digest', 'digest'];

/**
 * The digest that an origin states of a whole file in an answer: `Repr-Digest` and `Content-Digest` (RFC 9530), `Digest`
 * (RFC 3230), `Content-MD5` (RFC 1864). An answer with a part of it states the whole file's digest by two of them only.
 */
function statedDigest({ headers }: Pick<AnswerHead, 'headers'>, isPart: boolean): StatedDigest | undefined {
  for (const name of isPart ? OF_THE_FILE : [...OF_THE_FILE, 'content-digest']) {
    const stated = parseDigests(String(headers[name] ?? ''));
    if (stated) return stated;
  }
  const md5 = isPart ? undefined : headers['content-md5'];
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

/** Whether a text is a digest in base64. In hexadecimal, as some origins write it, it is another base64, and too long. */
function isDigest(text: string, algorithm: StatedDigest['algorithm']): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === LENGTHS[algorithm] && bytes.toString('base64') === text;
}

/** The digest of a whole body that passes, and whether it is what the origin states. */
class BodyDigest {
  readonly #sha256 = createHash('sha256');
  readonly #other: Hash | undefined;
  readonly #stated: StatedDigest | undefined;

  constructor(stated: StatedDigest | undefined) {
    this.#stated = stated;
    if (stated && stated.algorithm !== 'sha256') this.#other = createHash(stated.algorithm);
  }

  update(chunk: Buffer): void {
    this.#sha256.update(chunk);
    this.#other?.update(chunk);
  }

  /** The SHA-256 in hexadecimal, and whether the origin stated another digest. Ends the calculation. */
  finish(): { readonly sha256: string; readonly isWrong: boolean } {
    const sha256 = this.#sha256.digest();
    if (!this.#stated) return { sha256: sha256.toString('hex'), isWrong: false };
    const found = (this.#other?.digest() ?? sha256).toString('base64');
    return { sha256: sha256.toString('hex'), isWrong: found !== this.#stated.base64 };
  }
}

/** What happens to the bytes of a body on their way, beside being sent. */
export interface BodyCare {
  /** Of a whole file; `undefined` where a part is sent or nobody wants it. */
  readonly digest: BodyDigest | undefined;
  /** Whether the bytes must pass this process, so that the digest sees them. */
  readonly mustPass: boolean;
  /** Whether the end of the file must wait until the digest has been checked. */
  readonly holdsBack: boolean;
}

/** A body that is only sent. */
export const NO_CARE: BodyCare = { digest: undefined, mustPass: false, holdsBack: false };

/** The care for a whole file, from the head of the answer with it, or with only a part of it. */
export function careForWhole(
  head: Pick<AnswerHead, 'headers'>,
  isPart: boolean,
  digestsAll: boolean,
): BodyCare {
  const stated = statedDigest(head, isPart);
  const holdsBack = stated !== undefined;
  return { digest: new BodyDigest(stated), mustPass: digestsAll || holdsBack, holdsBack };
}
