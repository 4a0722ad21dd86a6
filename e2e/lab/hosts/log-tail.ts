import { closeSync, openSync, readSync } from 'node:fs';

const LINE_FEED = 0x0a;

/** Reads what a log of JSON lines has more than at the last look. */
export class LogTail {
  readonly #file: string;
  #readBytes = 0;
  #rest = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Whole lines since the last call; lines that are no JSON objects are passed over. */
  newLines(): Record<string, unknown>[] {
    const fresh = this.#read();
    const content = Buffer.concat([this.#rest, fresh]);
    const end = content.lastIndexOf(LINE_FEED) + 1;
    this.#rest = content.subarray(end);
    return content
      .toString('utf8', 0, end)
      .split('\n')
      .flatMap((line) => parsed(line));
  }

  #read(): Buffer {
    const descriptor = openSync(this.#file, 'r');
    try {
      const chunks: Buffer[] = [];
      for (;;) {
        const chunk = Buffer.alloc(65_536);
        const bytes = readSync(descriptor, chunk, 0, chunk.length, this.#readBytes);
        if (bytes === 0) return Buffer.concat(chunks);
        this.#readBytes += bytes;
        chunks.push(chunk.subarray(0, bytes));
      }
    } finally {
      closeSync(descriptor);
    }
  }
}

function parsed(line: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value as Record<string, unknown>] : [];
  } catch {
    return [];
  }
}
