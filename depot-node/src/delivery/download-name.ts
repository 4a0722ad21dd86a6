import { cleanFileName, fileNameOf, type OriginUrl } from '@longhaul/shared';
import contentDisposition from 'content-disposition';

/**
 * The `Content-Disposition` of an answer: always `attachment`, with the name that the origin gives or else the one its
 * URL stands for.
 */
export function dispositionFor(originHeader: string | undefined, url: OriginUrl): string {
  const name = cleanFileName(nameFrom(originHeader) ?? '') ?? fileNameOf(url);
  // Bytes beyond ASCII are read differently by every browser, so they stand in `filename*` alone.
  const fallback = name.replace(/[^\x20-\x7e]/g, '_');
  return contentDisposition(name, { type: 'attachment', ...(fallback === name ? {} : { fallback }) });
}

function nameFrom(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    const name = contentDisposition.parse(header).parameters.filename;
    return name === undefined || name === '' ? undefined : asUtf8(name);
  } catch {
    // Origins often leave out the quotes that the grammar asks for; browsers take the rest of the parameter.
    const loose = /filename\s*=\s*"?([^";]+)"?/i.exec(header)?.[1]?.trim();
    return loose === undefined || loose === '' ? undefined : asUtf8(loose);
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
