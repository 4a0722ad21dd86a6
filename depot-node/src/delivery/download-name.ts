import { cleanFileName, fileNameOf, type OriginUrl } from '@longhaul/shared';
import contentDisposition from 'content-disposition';

/**
 * The `Content-Disposition` of an answer: always `attachment`, with the name that the origin gives or else the one its
 * URL stands for. Browsers read `filename*`; beside it stands what the origin says to those that do not, such as curl.
 */
export function dispositionFor(originHeader: string | undefined, url: OriginUrl): string {
  const name = cleanFileName(nameFrom(originHeader) ?? '') ?? fileNameOf(url);
  const ascii = name.replace(/[^\x20-\x7e]/g, '_');
  const both = contentDisposition(name, {
    type: 'attachment',
    ...(ascii === name ? {} : { fallback: ascii }),
  });
  const plain = cleanFileName(plainNameFrom(originHeader) ?? '');
  if (ascii === name || plain === undefined) return both;
  // The bytes of its UTF-8, as they mostly come: the grammar has no other form for them here.
  const bytes = Buffer.from(plain, 'utf8').toString('latin1');
  return both.replace(/filename="[^"]*"/, () => `filename="${bytes}"`);
}

/** What an origin gives as `filename`, whatever stands in `filename*`. */
function plainNameFrom(header: string | undefined): string | undefined {
  const [, quoted, bare] =
    /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";\s][^";]*))/i.exec(header ?? '') ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? bare?.trim();
  return name === undefined || name === '' ? undefined : asUtf8(name);
}

function nameFrom(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    const name = contentDisposition.parse(header).parameters.filename;
    return name === undefined || name === '' ? undefined : asUtf8(name);
  } catch {
    // Origins often leave out the quotes that the grammar asks for, or one of them; browsers take the rest of the parameter.
    const loose = /filename\s*=\s*"?([^";]+)/i.exec(header)?.[1]?.trim();
    return plainNameFrom(header) ?? (loose === undefined || loose === '' ? undefined : asUtf8(loose));
  }
}

/** Header bytes arrive as Latin-1; names that are UTF-8 underneath are read as such, as browsers do. */
function asUtf8(name: string): string {
  if (!/[\x80-\xff]/.test(name) || /[^\x00-\xff]/.test(name)) return name;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}
