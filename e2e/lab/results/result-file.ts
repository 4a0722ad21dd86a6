import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { LabRefusal } from '../refusal.ts';
import { countOtherLabs } from './other-labs.ts';
import { readLines, transferLineSchema } from './read-lines.ts';
import { type RunInfo, resumeRun, runInfoSchema } from './run-info.ts';
import type { TransferLine } from './transfer-line.ts';

/** A result that grows: lines in `<file>`, the run's description in `<file>.run.json`. */
export interface LineFile<Line> {
  /** Of the run as it began, also when this is its continuation. */
  readonly info: RunInfo;
  /** What was there already and need not be done again. */
  readonly lines: readonly Line[];
  /** Adds one line; it is on the disk when this returns. */
  readonly append: (line: Line) => void;
  /** Marks the run as finished and closes. */
  readonly finish: (now?: Date) => void;
  /** Closes; the run may be resumed. Does nothing after `finish`. */
  readonly close: () => void;
}

export interface Lines<Line> {
  readonly info: RunInfo;
  readonly lines: readonly Line[];
}

/** A result of the lab. */
export type ResultFile = LineFile<TransferLine>;
export type Results = Lines<TransferLine>;

/** {@link openLineFile} for transfers. */
export function openResultFile(file: string, wanted: RunInfo): ResultFile {
  return openLineFile(file, wanted, transferLineSchema);
}

/** {@link readLineFile} for transfers. */
export function readResults(file: string): Results {
  return readLineFile(file, transferLineSchema);
}

const sidecarOf = (file: string) => `${file}.run.json`;

/**
 * Opens a result for writing. A missing or empty file begins anew; an unfinished run of the same plan goes
 * on, without the line that a crash may have torn; a finished one is moved to `<file>.previous` first, and
 * with `keeps` the lines that this says stay in the new file. Throws a refusal, and changes nothing, when the
 * file belongs to something else.
 */
export function openLineFile<Line>(
  file: string,
  wanted: RunInfo,
  schema: z.ZodType<Line>,
  keeps?: (line: Line) => boolean,
): LineFile<Line> {
  mkdirSync(dirname(file), { recursive: true });
  const content = readIfThere(file);
  if (!content?.length) return begin(file, wanted);
  const found = readSidecar(file);
  if (!found) {
    throw new LabRefusal(
      'lab-result-file',
      `${file} is not empty and has no valid ${sidecarOf(file)} beside it: name another file, or move this one away.`,
    );
  }
  if (found.finishedAt !== null && !keeps) {
    keepPrevious(file);
    return begin(file, wanted);
  }
  if (found.planFingerprint !== wanted.planFingerprint) {
    throw new LabRefusal(
      'lab-result-file',
      `${file} holds ${keeps ? 'a' : 'an unfinished'} run of another plan: ${keeps ? 'begin it' : 'finish it'} with \`${found.command}\`, name another file, or move it and ${sidecarOf(file)} away.`,
    );
  }
  if (keeps) {
    const kept = readLines(file, content, schema).lines.filter((line) => keeps(line));
    keepPrevious(file);
    return begin(file, resumeRun(found, wanted, true), kept);
  }
  const { lines, wholeBytes } = readLines(file, content, schema);
  const resumed = resumeRun(found, wanted);
  writeSidecar(file, resumed);
  const descriptor = openSync(file, 'a');
  ftruncateSync(descriptor, wholeBytes);
  return writer(file, descriptor, resumed, lines);
}

/** Reads a result, finished or not. Throws a refusal when there is none or a line is wrong. */
export function readLineFile<Line>(file: string, schema: z.ZodType<Line>): Lines<Line> {
  const { info, content } = readDescribed(file);
  return { info, lines: readLines(file, content, schema).lines };
}

/** Reads how a result came about, whatever its lines are of. Throws a refusal when there is none. */
export function readRunInfo(file: string): RunInfo {
  return readDescribed(file).info;
}

function readDescribed(file: string): { readonly info: RunInfo; readonly content: Buffer } {
  const content = readIfThere(file);
  if (!content)
    throw new LabRefusal('lab-result-file', `${file} does not exist: run an experiment with --json first.`);
  const info = readSidecar(file);
  if (!info) {
    throw new LabRefusal(
      'lab-result-file',
      `${sidecarOf(file)} is missing or damaged: without it nobody knows how ${file} was measured, so run the experiment again.`,
    );
  }
  return { info, content };
}

function begin<Line>(file: string, info: RunInfo, kept: readonly Line[] = []): LineFile<Line> {
  // The description first: lines without one would be refused.
  writeSidecar(file, info);
  const descriptor = openSync(file, 'a');
  writeAll(descriptor, kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
  fdatasyncSync(descriptor);
  return writer(file, descriptor, info, kept);
}

function writer<Line>(
  file: string,
  descriptor: number,
  info: RunInfo,
  lines: readonly Line[],
): LineFile<Line> {
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return {
    info,
    lines,
    append: (line) => {
      if (!isOpen) throw new Error(`${file} is closed`);
      writeAll(descriptor, `${JSON.stringify(line)}\n`);
      fdatasyncSync(descriptor);
    },
    finish: (now = new Date()) => {
      close();
      const otherLabs = info.otherLabs && { ...info.otherLabs, atEnd: countOtherLabs() };
      writeSidecar(file, { ...info, finishedAt: now.toISOString(), ...(otherLabs ? { otherLabs } : {}) });
    },
    close,
  };
}

function keepPrevious(file: string): void {
  const previous = `${file}.previous`;
  // In this order a crash in between never leaves lines beside the description of other lines.
  rmSync(sidecarOf(previous), { force: true });
  renameSync(file, previous);
  renameSync(sidecarOf(file), sidecarOf(previous));
}

/** Replaces the description as a whole: after a crash there is the old or the new one. */
function writeSidecar(file: string, info: RunInfo): void {
  const fresh = `${sidecarOf(file)}.new`;
  const descriptor = openSync(fresh, 'w');
  writeAll(descriptor, `${JSON.stringify(info, null, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(fresh, sidecarOf(file));
}

function readSidecar(file: string): RunInfo | undefined {
  const content = readIfThere(sidecarOf(file));
  if (!content) return undefined;
  try {
    return runInfoSchema.safeParse(JSON.parse(content.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (failure) {
    if (failure instanceof Error && 'code' in failure && failure.code === 'ENOENT') return undefined;
    throw failure;
  }
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
