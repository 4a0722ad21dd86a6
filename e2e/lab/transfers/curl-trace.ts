/** When the two things happened that `--write-out` cannot tell of a redirected transfer. */
export interface CurlTrace {
  /** From the first connection until the last request was sent. */
  readonly setUpMs: number | null;
  /** From the first connection to the first body byte of the last answer. */
  readonly ttfbMs: number | null;
}

const DAY_MS = 24 * 3600 * 1000;

/**
 * Reads the output of `curl --verbose --trace-time`. `time_pretransfer` of `--write-out` adds up what each request took
 * to be sent but leaves out the answers between them (curl 7.88), and `time_starttransfer` is about headers, so both
 * times come from here. Stamps are local times of day, made from a monotonic clock.
 */
export function parseCurlTrace(trace: string): CurlTrace {
  const none: CurlTrace = { setUpMs: null, ttfbMs: null };
  let startMs: number | undefined;
  let found = none;
  let isFile = false;
  let before = '';
  for (const line of trace.split(/\r?\n/)) {
    const [, hours, minutes, seconds, mark, text = ''] =
      /^(\d\d):(\d\d):(\d\d\.\d+) ([*<>{}]) ?(.*)$/.exec(line) ?? [];
    if (mark === undefined) continue;
    const nowMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    startMs ??= nowMs;
    const sinceMs = (nowMs - startMs + DAY_MS) % DAY_MS;
    if (mark === '>' && text.startsWith('GET ')) {
      found = { setUpMs: sinceMs, ttfbMs: null };
      isFile = false;
    } else if (mark === '<' && text.startsWith('HTTP/')) {
      isFile = / 2\d\d\b/.test(text);
    } else if (mark === '{' && isFile && found.ttfbMs === null && !isTlsRecord(before)) {
      found = { ...found, ttfbMs: sinceMs };
    }
    before = line;
  }
  return found;
}

/** curl shows the bytes of a TLS message as data as well, after a line that says what it is. */
function isTlsRecord(lineBefore: string): boolean {
  return /\* TLS.* \(IN\)/.test(lineBefore);
}
