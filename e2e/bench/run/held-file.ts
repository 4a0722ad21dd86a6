/** Flows that rest have lines of another kind than runs, so they have a file of their own beside the runs'. */
export function heldFileOf(resultFile: string): string {
  return `${resultFile.replace(/\.jsonl?$/, '')}.held.jsonl`;
}

/** So have cases. */
export function casesFileOf(resultFile: string): string {
  return `${resultFile.replace(/\.jsonl?$/, '')}.cases.jsonl`;
}
