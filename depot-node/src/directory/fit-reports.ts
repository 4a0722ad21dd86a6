import { MAX_BODY_BYTES } from '@longhaul/shared';

/** Of a heartbeat's body, kept for what it says beside reports: load, depots and origins not reached. */
const HEAD_BYTES = 4_096;
/** What all reports of one heartbeat may take together. */
const REPORT_BYTES = MAX_BODY_BYTES - HEAD_BYTES;

/**
 * Of several lists of reports, the most valuable list first, where that part begins which fits one heartbeat:
 * the newest reports, which stand last. Each list has an equal part for sure; what others leave goes to the
 * most valuable one that needs it.
 */
export function fitReports(lists: readonly (readonly object[])[]): number[] {
  // The comma counts, too.
  const sizes = lists.map((reports) =>
    reports.map((report) => Buffer.byteLength(JSON.stringify(report)) + 1),
  );
  const begins = lists.map((reports) => reports.length);
  let leftBytes = REPORT_BYTES;
  const partBytes = Math.floor(REPORT_BYTES / lists.length);
  for (const mostBytes of [partBytes, REPORT_BYTES]) {
    for (const [index, bytes] of sizes.entries()) {
      let takenBytes = 0;
      let begin = begins[index] ?? 0;
      for (; begin > 0; begin -= 1) {
        const next = bytes[begin - 1] ?? 0;
        if (next > leftBytes || takenBytes + next > mostBytes) break;
        takenBytes += next;
        leftBytes -= next;
      }
      begins[index] = begin;
    }
  }
  return begins;
}
