import {
  closeSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { SimDecision } from './sim-decision.ts';
import type { Knowledge } from './sim-line.ts';

/** Where decisions go, one line of JSON each. */
export interface DecisionFile {
  readonly append: (decision: SimDecision) => void;
  readonly close: () => void;
}

/** Opens one, and its folder; of what is there stay the decisions of knowledge that is not simulated again. */
export async function openDecisionFile(
  file: string,
  finished: ReadonlySet<Knowledge>,
): Promise<DecisionFile> {
  mkdirSync(dirname(file), { recursive: true });
  const kept = existsSync(file) ? await bytesOf(file, finished) : 0;
  const descriptor = openSync(file, 'a');
  ftruncateSync(descriptor, kept);
  return {
    append: (decision) => void writeSync(descriptor, `${JSON.stringify(decision)}\n`),
    close: () => closeSync(descriptor),
  };
}

/** How far they reach: one knowledge is simulated after the other. */
async function bytesOf(file: string, finished: ReadonlySet<Knowledge>): Promise<number> {
  let bytes = 0;
  const input = createReadStream(file);
  for await (const line of createInterface({ input })) {
    const knowledge = knowledgeOf(line);
    if (knowledge === undefined || !finished.has(knowledge)) break;
    bytes += Buffer.byteLength(line) + 1;
  }
  input.destroy();
  return bytes;
}

/** Nothing where a crash has torn the line. */
function knowledgeOf(line: string): Knowledge | undefined {
  try {
    return (JSON.parse(line) as SimDecision).knowledge;
  } catch {
    return undefined;
  }
}
