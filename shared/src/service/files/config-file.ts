import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type * as z from 'zod';
import { LonghaulError } from '../../errors.ts';
import { checkAuthority, checkTls, type TlsMaterial } from '../tls/tls-files.ts';
import type { TlsFiles } from './config-schemas.ts';
import { fileReason } from './system-failure.ts';

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
  throw configInvalid(result.error.issues.flatMap(describeIssue));
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

function describeIssue(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${[...path, key].join('.')}: there is no such key`);
  }
  return [`${path.length > 0 ? path.join('.') : 'the whole file'}: ${issue.message}`];
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
    return parse(text);
  } catch (cause) {
    throw new LonghaulError('config-invalid', { detail: `${path} is not YAML: ${reasonOf(cause)}`, cause });
  }
}

function reasonOf(failure: unknown): string {
  if (failure instanceof LonghaulError) return failure.detail ?? failure.message;
  return failure instanceof Error ? failure.message : String(failure);
}
