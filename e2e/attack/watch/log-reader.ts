import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Three parts of base64url, the last of 86 characters: a ticket, or most of one. */
const TICKET = /[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{40,}/;
/** An address with a path or a query behind its host. */
const FULL_URL = /https?:\/\/[^\s"/?]+[/?][^\s"]/;
/** How paths and queries of this suite can be told from all other words. */
const OWN_PATH = /asked-[0-9]|-[0-9]+\.bin/;

export interface LogPart {
  readonly lines: number;
  /** Beginnings of lines that hold what no log may hold. */
  readonly leaks: readonly string[];
}

/** Reads a log that grows, each line once. */
export class LogReader {
  readonly #path: string;
  #atByte = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What has come since the last call. */
  take(): LogPart {
    const text = this.#read();
    const lines = text.split('\n').filter((line) => line !== '');
    return { lines: lines.length, leaks: lines.filter(isLeak).map((line) => line.slice(0, 300)) };
  }

  #read(): string {
    try {
      const descriptor = openSync(this.#path, 'r');
      const sizeBytes = fstatSync(descriptor).size;
      // A service that was started anew has begun its log anew.
      if (sizeBytes < this.#atByte) this.#atByte = 0;
      const content = Buffer.alloc(sizeBytes - this.#atByte);
      const read = readSync(descriptor, content, 0, content.length, this.#atByte);
      closeSync(descriptor);
      this.#atByte += read;
      return content.toString('utf8', 0, read);
    } catch {
      return '';
    }
  }
}

export function isLeak(line: string): boolean {
  return TICKET.test(line) || FULL_URL.test(line) || OWN_PATH.test(line);
}
