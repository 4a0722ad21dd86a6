import type { IncomingMessage } from 'node:http';
import { cleanFileName, fileNameOf, type OriginUrl, originForm } from '@longhaul/shared';
import contentDisposition from 'content-disposition';

/**
 * Who sends this as `User-Agent` makes a name of URL and type; others take the ticket into it, as wget does,
 * or find none, as curl.
 */
const BROWSER = /^Mozilla\//;

/**
 * Whether a browser that is told no name makes the same one of the depot's address as of the origin's: the
 * last segment, whose extension gives way to the type's where there is none, or the address has a query, as
 * each of a depot has. `url` is what the origin's redirects ended at.
 */
export function isNamedAlike(
  { url: target = '', headers: { 'user-agent': program = '' } }: Pick<IncomingMessage, 'url' | 'headers'>,
  contentType: string | undefined,
  url: OriginUrl,
): boolean {
  const segment = lastSegment(url.path);
  const [path = ''] = originForm(target).split('?', 1);
  const givesWay = url.query !== null || segment === '' || !/[^.]\.+[^.]/.test(fileNameOf(url));
  return BROWSER.test(program) && lastSegment(path) === segment && givesWay && isStated(contentType);
}

const lastSegment = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/**
 * Whether a type is one that Chromium goes by: it looks into what has none, or that of any text, but not
 * where a depot has said `nosniff`.
 */
function isStated(contentType = ''): boolean {
  const [type = ''] = contentType.split(';', 1);
  return !['', 'text/plain'].includes(type.trim().toLowerCase());
}

/**
 * The `Content-Disposition` of an answer: always `attachment`, with the name that the origin gives or else
 * the one its URL stands for, if the client has to be told (`isNamedByClient`). Browsers read `filename*`;
 * beside it stands what the origin says to those that do not, such as curl, or of a name beyond ASCII its
 * URL's form.
 */
export function dispositionFor(
  originHeader: string | undefined,
  url: OriginUrl,
  isNamedByClient = false,
): string {
  const given = parametersOf(originHeader ?? '');
  const extended = cleanFileName(extendedText(given.get('filename*') ?? '') ?? '');
  const plainValue = given.get('filename') ?? '';
  const plainText = textOf(plainValue);
  const plain = plainText === undefined ? undefined : cleanFileName(plainText);
  const plainBytes = plainText === undefined ? cleanBytes(plainValue) : plain && utf8Bytes(plain);
  // Each browser reads these as it would from the origin: by the language of its user.
  const isUnread = plainText === undefined && extended === undefined && plainBytes !== undefined;
  if (isUnread) return `attachment; filename="${plainBytes}"`;
  const name = extended ?? plain;
  if (name !== undefined) return named(name, plainBytes);
  return isNamedByClient ? 'attachment' : named(fileNameOf(url), segmentAsItStands(url));
}

/** What has a meaning in a name for file systems, should a program decode it; and dots in front. */
const MEANS_MORE = /^(?:\.|%2e)+|%(?:[01][0-9a-f]|2[2af]|3[acef]|5c|7[cf])/gi;

/**
 * The last segment of a URL, percent-encoded as it is there: so a program names the file that asks the origin
 * and reads no `filename*`.
 */
function segmentAsItStands({ path }: OriginUrl): string | undefined {
  const segment = lastSegment(path).replace(MEANS_MORE, '_');
  const clean = cleanFileName(segment);
  // Where it has been cut an escape may have lost its end.
  return clean === undefined || clean.length === segment.length
    ? clean
    : clean.replace(/%[0-9a-f]?(?=(?:\.[a-z0-9]{1,10})?$)/i, '');
}

/** The header for a name, with these bytes instead of it for those who read no `filename*`. */
function named(name: string, plainBytes: string | undefined): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_');
  const both = contentDisposition(name, {
    type: 'attachment',
    ...(ascii === name ? {} : { fallback: ascii }),
  });
  if (ascii === name || plainBytes === undefined) return both;
  // The grammar has no other form for them here.
  return both.replace(/filename="[^"]*"/, () => `filename="${plainBytes}"`);
}

/**
 * A parameter, in quotes or without; behind the first word the semicolon may be left out, and the second
 * quote at the end.
 */
const PARAMETER =
  /(?:^(?:[^ \t=;"]+[ \t])?|;)[ \t]*([^ \t=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|"?([^;]*))/g;

/** A name is cut to 255 bytes, however long it is: more text costs only time. */
const MOST_READ_CHARS = 8192;

/** The parameters of a header, read as loosely as browsers do; of two with one name the first that says anything. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (header.length > MOST_READ_CHARS) return found;
  for (const [, name = '', quoted, bare = ''] of header.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    // Bytes beyond ASCII are no space, though one of them looks like it.
    if (!found.get(key)) found.set(key, quoted?.replace(/\\(.)/g, '$1') ?? bare.replace(/[ \t]+$/, ''));
  }
  return found;
}

/** The text of a `filename*` (RFC 8187), in whatever charset; `undefined` where it cannot be read. */
function extendedText(value: string): string | undefined {
  const [, charset, encoded] = /^([^']+)'[^']*'(.+)$/.exec(value) ?? [];
  return charset === undefined || encoded === undefined ? undefined : decode(percentBytes(encoded), charset);
}

/** An encoded word (RFC 2047), with the space to the next one. */
const ENCODED_WORD = /=\?([^?\s]+)\?(?:b\?([a-z0-9+/]+=*)|q\?([^?\s]+))\?=(?:\s+(?==\?))?/gi;

/**
 * The text of a plain `filename`, as browsers read it; `undefined` where it has bytes of a charset that
 * nobody names.
 */
function textOf(value: string): string | undefined {
  if (/[\x80-\xff]/.test(value)) return decode(Buffer.from(value, 'latin1'), 'utf-8');
  const words = value.replace(
    ENCODED_WORD,
    (word: string, charset: string, base64: string | undefined, quoted = '') =>
      decode(base64 === undefined ? quotedBytes(quoted) : Buffer.from(base64, 'base64'), charset) ?? word,
  );
  // What is no UTF-8 is meant as it stands.
  return words === value ? (decode(percentBytes(value), 'utf-8') ?? value) : words;
}

function percentBytes(text: string): Buffer {
  return Buffer.from(text.replace(/%([0-9a-f]{2})/gi, charOfHex), 'latin1');
}

function quotedBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('_', ' ').replace(/=([0-9a-f]{2})/gi, charOfHex), 'latin1');
}

const charOfHex = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));

function decode(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** As HTTP gives it: each character a byte. */
function utf8Bytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A name in bytes of an unknown charset, cleaned of what its ASCII may do. */
function cleanBytes(name: string): string | undefined {
  // Out of the way of what is cleaned away among characters, and of as many bytes as most of them may become.
  const away = name.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) + 0x100));
  return cleanFileName(away)?.replace(/[\u0180-\u01ff]/g, (char) =>
    String.fromCharCode(char.charCodeAt(0) - 0x100),
  );
}
