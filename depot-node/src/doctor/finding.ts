/** What one check has found. `fail`: the depot cannot do what it is configured for; `warn`: it works, but worse. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** What was looked at, in a few words. */
  readonly what: string;
  /** What is the case on this machine. */
  readonly found: string;
  /** What to change, as a command wherever there is one. */
  readonly change?: string;
}

/** One line for each finding: level, what, found and, where something is to be done, what to change. */
export function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ what }) => what.length));
  return findings
    .map(({ level, what, found, change }) => {
      const line = `${level.padEnd(4)}  ${what.padEnd(width)}  ${found}`;
      return change === undefined ? `${line}\n` : `${line}  ->  ${change}\n`;
    })
    .join('');
}
