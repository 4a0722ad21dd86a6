import { beforeEach, expect, test } from 'vitest';
import { selfSigned } from '../tls/self-signed.ts';
import { CertificateWatch } from './certificate-watch.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2030, 0, 1);

let nowMs: number;
let lines: (readonly [level: string, code: unknown, message: string])[];
beforeEach(() => {
  nowMs = START_MS;
  lines = [];
});

const lasting = (days: number) => selfSigned({ fromMs: START_MS, toMs: START_MS + days * DAY_MS });

function watch(material: { tls: ReturnType<typeof selfSigned> } & Record<string, unknown>): CertificateWatch {
  const to = (level: string) => (fields: object, message: string) =>
    void lines.push([level, 'code' in fields && fields.code, message]);
  return new CertificateWatch(material, () => nowMs, { warn: to('warn'), error: to('error') });
}

/** Looks every hour for so many days, and gives on which days something was said. */
function daysOfLines(watched: CertificateWatch, days: number): number[] {
  const said: number[] = [];
  for (const endMs = nowMs + days * DAY_MS; nowMs < endMs; nowMs += HOUR_MS) {
    const before = lines.length;
    watched.look();
    for (let line = before; line < lines.length; line += 1) said.push((nowMs - START_MS) / DAY_MS);
  }
  return said;
}

test.each([
  ['of a year in its last two weeks', 365, 351],
  ['of a week in the last tenth of its life', 7, 6.3],
])('a certificate %s is told of, once a day, and after its end as an error', (_, days, fromDay) => {
  const watched = watch({ tls: lasting(days) });
  expect(lines).toEqual([]);
  const said = daysOfLines(watched, days);
  expect(said[0]).toBeGreaterThan(fromDay);
  expect(said[0]).toBeLessThanOrEqual(fromDay + 1 / 24);
  expect(said).toHaveLength(Math.ceil(days - (said[0] ?? 0)));
  for (const line of lines)
    expect(line).toEqual(['warn', 'certificate-ending', expect.stringMatching(/^tls: .*renew it/)]);
  lines = [];
  nowMs += 1;
  expect(daysOfLines(watched, 2)).toHaveLength(2);
  for (const line of lines)
    expect(line).toEqual(['error', 'config-invalid', expect.stringContaining('has expired at 203')]);
});

test('a certificate that was renewed is looked at anew, one that stays is not told of again', () => {
  const [old, other] = [lasting(200), lasting(201)];
  nowMs += 190 * DAY_MS;
  const watched = watch({ tls: old, 'entryGroup.tls': other, trustedCaFiles: [old.cert] });
  expect(lines.map(([, , message]) => message.split(':')[0])).toEqual(['tls', 'entryGroup.tls']);
  watched.take({ tls: lasting(290), 'entryGroup.tls': other });
  watched.look();
  expect(lines).toHaveLength(2);
  expect(watched.secondsLeft()).toEqual({ tls: 100 * 86_400, 'entryGroup.tls': 11 * 86_400 });
  watched.take({ tls: lasting(195), 'entryGroup.tls': other });
  expect(lines.slice(2)).toEqual([['warn', 'certificate-ending', expect.stringMatching(/^tls: /)]]);
});
