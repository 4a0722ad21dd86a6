import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, YAMLError } from 'yaml';
import type * as z from 'zod';
import { LonghaulError } from '../../errors.ts';
import { checkAuthority, checkTls, type TlsMaterial } from '../tls/tls-files.ts';
import type { TlsFiles } from './config-schemas.ts';
import { fileReason } from './system-failure.ts';

/** Keys that there are not are told up to so many of them: who has named a wrong file need not see all of it. */
const MOST_UNKNOWN_KEYS = 20;
/** No key is longer, nor a mistyped one. */
const LONGEST_KEY_CHARS = 40;
/** So much is told of what is longer. */
const CUT_KEY_CHARS = 8;
/** What the validator says, in its own words, of a value that is not of the kind it should be. */
const OF_VALUE = /^Invalid (?:input|option)/;

/** A configuration with the folder that the paths in it are relative to. */
export interface ConfigFile<Config> {
  readonly config: Config;
  readonly baseDir: string;
}

/** Reads the files that a configuration names. Each takes the key that named it, for the list of mistakes. */
export interface FileReader {
  /**
   * What only those know who may do something, without the blanks around it; a file that is just being
   * rewritten holds none.
   */
  readonly secret: (key: string, path: string) => string;
  /**
   * Certificate and key, which fit each other and the name, where one is given; nothing where nothing is
   * configured.
   */
  readonly tls: (key: string, files: TlsFiles | undefined, host?: string) => TlsMaterial | undefined;
  /** Certificates of authorities, PEM. */
  readonly authorities: (key: string, paths: readonly string[]) => readonly string[];
}

/** Reads a YAML file and lets `check` read the configuration in it. Throws `config-invalid` with every mistake. */
export function readConfigFile<Config>(path: string, check: (input: unknown) => Config): ConfigFile<Config> {
  return { config: check(parseYaml(readText(path), path)), baseDir: dirname(resolve(path)) };
}

/**
 * Checks a configuration against its schema. Throws `config-invalid` whose detail lists every mistake, one a line, with
 * the key's full name.
 */
export function checkConfig<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input ?? {});
  if (result.success) return result.data;
  throw configInvalid(result.error.issues.flatMap((issue) => describeIssue(issue, input)));
}

/**
 * When a check that compares keys with each other is made: Zod makes it only where all else is right, and
 * then not all mistakes are listed at once. Only mistakes in these keys themselves leave nothing to compare.
 */
export function unlessWrong(...keys: readonly string[]): (payload: z.core.ParsePayload) => boolean {
  return ({ value, issues }) =>
    typeof value === 'object' &&
    value !== null &&
    !issues.some(({ path }) => keys.includes(String(path?.[0])));
}

/** Reads the files that a configuration names. Throws `config-invalid` that lists every one which cannot be used. */
export function readNamedFiles<Files>(baseDir: string, read: (files: FileReader) => Files): Files {
  const mistakes: string[] = [];
  // What stands for a file that cannot be used is never given out.
  const attempt = <T>(key: string, instead: T, load: () => T): T => {
    try {
      return load();
    } catch (failure) {
      mistakes.push(`${key}: ${reasonOf(failure)}`);
      return instead;
    }
  };
  const text = (path: string) => readText(resolve(baseDir, path));
  const files = read({
    secret: (key, path) => attempt(key, '', () => checkSecret(text(path), path)),
    tls: (key, named, host) =>
      named && attempt(key, undefined, () => checkTls(text(named.certFile), text(named.keyFile), host)),
    authorities: (key, paths) =>
      paths.map((path, index) => attempt(`${key}.${index}`, '', () => checkAuthority(text(path)))),
  });
  if (mistakes.length > 0) throw configInvalid(mistakes);
  return files;
}

function checkSecret(text: string, path: string): string {
  const secret = text.trim();
  if (secret === '') throw new LonghaulError('config-invalid', { detail: `${path} is empty` });
  return secret;
}

function configInvalid(mistakes: readonly string[]): LonghaulError {
  return new LonghaulError('config-invalid', { detail: mistakes.map((line) => `\n  - ${line}`).join('') });
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown): string[] {
  const path = issue.path.map((key) => nameOf(String(key)));
  if (issue.code === 'unrecognized_keys') {
    const listed = issue.keys.slice(0, MOST_UNKNOWN_KEYS).map((key) => [...path, nameOf(key)].join('.'));
    const more = issue.keys.length - listed.length;
    const lines = listed.map((key) => `${key}: there is no such key`);
    return more > 0 ? [...lines, `and ${more} more that are no keys`] : lines;
  }
  const isMissing = path.length > 0 && OF_VALUE.test(issue.message) && isUndefinedAt(input ?? {}, issue.path);
  return [
    `${path.length > 0 ? path.join('.') : 'the whole file'}: ${isMissing ? 'is missing' : issue.message}`,
  ];
}

/** A key as it is told: what is far too long for one may be a line of another file, with what is secret in it. */
function nameOf(key: string): string {
  return key.length <= LONGEST_KEY_CHARS ? key : `${key.slice(0, CUT_KEY_CHARS)}...`;
}

function isUndefinedAt(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value === undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new LonghaulError('config-invalid', {
      detail: `${path} cannot be read: ${fileReason(cause)}`,
      cause,
    });
  }
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (cause) {
    // What stands in that place may be secret where this is another file.
    const at = cause instanceof YAMLError ? ` (${cause.code}, ${placeOf(cause)})` : '';
    throw new LonghaulError('config-invalid', { detail: `${path} is not YAML${at}` });
  }
}

function placeOf({ linePos }: YAMLError): string {
  const { line = 1, col = 1 } = linePos?.[0] ?? {};
  return `line ${line}, column ${col}`;
}

function reasonOf(failure: unknown): string {
  if (failure instanceof LonghaulError) return failure.detail ?? failure.message;
  return failure instanceof Error ? failure.message : String(failure);
}
