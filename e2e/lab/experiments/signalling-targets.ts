import { isFailed } from '../report/cells.ts';
import type { ReportTarget, TargetOutcome } from '../report/report-plan.ts';
import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';

/** How much later than directly the first byte may come: the redirect alone costs 42 ms. Negative: so much earlier. */
const COLD_HTTP_MS = 50;
const WARM_HTTP_MS = -10;
const COLD_HTTPS_MS = 80;

const UNKNOWN: TargetOutcome = { measured: 'not measured', isMet: null };

/** What is seen of a transfer, in milliseconds; null where it is not told. */
type Quantity = (line: TransferLine) => number | null;

const firstByte: Quantity = ({ ttfbMs }) => ttfbMs;
const wholeFile: Quantity = ({ seconds, cut }) => (cut ? null : seconds * 1000);

/** What the next release must show of first bytes and small files, against `direct` in the same scenario. */
export const SIGNALLING_TARGETS: readonly ReportTarget[] = [
  later('http-cold', 'cascade3', COLD_HTTP_MS),
  later('http-warm', 'cascade3', WARM_HTTP_MS),
  later('https-cold', 'cascade3', COLD_HTTPS_MS),
  later('elephant-cold', 'auto', COLD_HTTP_MS),
  later('elephant-warm', 'auto', WARM_HTTP_MS),
  later('elephant-cold-tls', 'auto', COLD_HTTPS_MS),
  ...['mouse-100kB', 'mouse-100kB-tls'].flatMap((scenario) =>
    ['auto', 'auto-unsized'].map((variant) => ({
      scenario,
      text: `${variant}: the whole file no later than direct`,
      check: (lines: readonly TransferLine[]) => difference(lines, scenario, variant, wholeFile, 0),
    })),
  ),
];

function later(scenario: string, variant: string, mostMs: number): ReportTarget {
  const text =
    mostMs < 0
      ? `${variant}: first byte at least ${-mostMs} ms before direct`
      : `${variant}: first byte at most ${mostMs} ms after direct`;
  return { scenario, text, check: (lines) => difference(lines, scenario, variant, firstByte, mostMs) };
}

function difference(
  lines: readonly TransferLine[],
  scenario: string,
  variant: string,
  quantity: Quantity,
  mostMs: number,
): TargetOutcome {
  const middle = (id: string) =>
    median(
      lines
        .filter((line) => line.scenario === scenario && line.variant === id && !isFailed(line))
        .flatMap((line) => quantity(line) ?? []),
    );
  const ms = middle(variant) - middle('direct');
  if (Number.isNaN(ms)) return UNKNOWN;
  return { measured: `${ms < 0 ? '−' : '+'}${Math.abs(ms).toFixed(0)} ms`, isMet: ms <= mostMs };
}
