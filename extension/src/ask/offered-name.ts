import { cleanFileName } from '@longhaul/shared';

/**
 * The name that a depot offers a file under (RFC 6266): Chromium takes it by itself, Firefox not where an add-on starts
 * the download. Empty when there is none.
 */
export function offeredName(headers: Headers): string {
  const line = headers.get('content-disposition') ?? '';
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(line)?.[1];
  const plain = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(line);
  const name =
    encoded === undefined ? (plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2]) : decode(encoded);
  return cleanFileName(name ?? '') ?? '';
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
