/** What stands for options behind `/get/`. */
const OPTIONS = /^\/get\/(?:~|%7[Ee])([^/]*)\//;
/** Every character that options may have, and none that would end them. */
const OPTION_TEXT = /^[!-.0-~]*$/;

/**
 * The same raw target with its options as they are written: programs that join URLs may have encoded them.
 * What is encoded wrongly stays, and is refused as options; no byte behind them changes.
 */
export function withPlainOptions(rawTarget: string): string {
  if (!rawTarget.includes('%')) return rawTarget;
  return rawTarget.replace(OPTIONS, (_, text: string) => `/get/~${plain(text)}/`);
}

function plain(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    return OPTION_TEXT.test(decoded) ? decoded : text;
  } catch {
    return text;
  }
}
