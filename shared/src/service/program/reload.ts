import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { asLonghaulError, LonghaulError } from '../../errors.ts';
import { certificateIn, type TlsMaterial, whyNotValid } from '../tls/tls-files.ts';

/** A configuration as it was read, with what the files hold that it names. */
export interface Generation {
  readonly config: object;
  /** What can be replaced while the service runs, by the key that names its files. */
  readonly material: Readonly<Record<string, unknown>> & { readonly tls: TlsMaterial | undefined };
}

interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

interface ReloadInit<Read extends Generation> {
  /** What the service has started with. */
  readonly started: Read;
  /** Reads everything again, for a service that goes by what it has started with. Throws `config-invalid`. */
  readonly read: (started: Read) => Read;
  /**
   * Takes the material over, or throws before it has taken any; the rest of a configuration stays as it was.
   * A certificate is there where there was one at the start, and nowhere else. Gives the keys whose files it
   * has only begun to read: it tells itself what comes of that.
   */
  readonly take: (read: Read) => readonly string[];
  readonly nowMs: () => number;
  readonly log: Log;
}

/**
 * Makes what reads a service's files again. All of it is taken or nothing: where a file or a key has a mistake, or the
 * certificate is not valid now, the log says so and everything goes on as it was. Of a configuration that has changed
 * beside, the log names the keys that need a restart.
 */
export function createReload<Read extends Generation>(init: ReloadInit<Read>): () => void {
  const { started, log } = init;
  let current = started;
  return () => {
    let next: Read;
    let fixed: readonly string[];
    let beingRead: readonly string[];
    try {
      const read = init.read(started);
      for (const [key, material] of Object.entries(read.material)) refuseInvalid(key, material, init.nowMs());
      fixed = fixedKeys(started.material, read.material);
      next = { ...read, material: { ...read.material, ...pick(current.material, fixed) } };
      beingRead = init.take(next);
    } catch (failure) {
      const { code, message } = asLonghaulError(failure);
      const fields = code === 'internal' ? { code, err: failure } : { code };
      log.error(fields, `not reloaded, everything goes on as it was: ${message}`);
      return;
    }
    const { replaced, needsRestart } = compare(started, current, next, fixed);
    const reloaded = replaced.filter((key) => !beingRead.includes(key));
    current = next;
    const { tls } = next.material;
    const certificate = tls ? { certificateValidTo: new X509Certificate(tls.cert).validToDate } : {};
    const none = beingRead.length > 0 ? 'nothing yet' : 'nothing, it is as it was';
    const what = [
      `reloaded: ${reloaded.join(', ') || none}`,
      ...(beingRead.length > 0 ? [`being read: ${beingRead.join(', ')}`] : []),
      ...(needsRestart.length > 0 ? [`needs a restart: ${needsRestart.join(', ')}`] : []),
    ].join('; ');
    const fields = { reloaded, ...(beingRead.length > 0 ? { beingRead } : {}), needsRestart, ...certificate };
    if (needsRestart.length === 0) log.info(fields, what);
    else log.warn(fields, what);
  };
}

/**
 * Keys of certificates that were added or left out since the start: what has TLS cannot become something without
 * it, nor the other way round.
 */
function fixedKeys(started: Generation['material'], read: Generation['material']): string[] {
  const has = (material: unknown) => certificateIn(material) !== undefined;
  return Object.keys(read).filter((key) => has(started[key]) !== has(read[key]));
}

function pick(material: Generation['material'], keys: readonly string[]) {
  return Object.fromEntries(keys.map((key) => [key, material[key]]));
}

/** Which keys were replaced by the newest generation, and which would be by a restart. */
function compare(started: Generation, before: Generation, now: Generation, fixed: readonly string[]) {
  const replaceable = Object.keys(now.material).filter((key) => !fixed.includes(key));
  const replaced = replaceable.filter((key) => !isDeepStrictEqual(before.material[key], now.material[key]));
  const needsRestart = changedKeys(started.config, now.config).filter(
    (changed) => !replaceable.some((key) => changed === key || changed.startsWith(`${key}.`)),
  );
  return { replaced, needsRestart };
}

/** Full names of the keys whose values differ; a list is one value. */
function changedKeys(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isTable(before) || !isTable(after)) return [path.join('.')];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedKeys(before[key], after[key], [...path, key]));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws `config-invalid` where this is a certificate that is not valid now. */
function refuseInvalid(key: string, material: unknown, nowMs: number): void {
  const cert = certificateIn(material);
  const reason = cert === undefined ? undefined : whyNotValid(cert, nowMs);
  if (reason !== undefined) throw new LonghaulError('config-invalid', { detail: `${key}: ${reason}` });
}
