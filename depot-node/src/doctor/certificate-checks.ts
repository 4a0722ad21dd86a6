import { isEnding, type TlsMaterial, validityOf, whyNotValid } from '@longhaul/shared/service';
import type { DepotFiles } from '../config-file.ts';
import type { Finding } from './finding.ts';

/**
 * Whether clients would take the depot's certificates, now and for a while. That they are for its names is
 * seen when they are read.
 */
export function checkCertificates(files: Pick<DepotFiles, 'tls' | 'groupTls'>, nowMs: number): Finding[] {
  return [...checkOne('tls', files.tls, nowMs), ...checkOne('entryGroup.tls', files.groupTls, nowMs)];
}

function checkOne(key: string, material: TlsMaterial | undefined, nowMs: number): Finding[] {
  if (!material) return [];
  const what = `certificate of ${key}`;
  const change = 'renew it, or set the clock; a depot that runs reads it again when it gets SIGHUP';
  const reason = whyNotValid(material.cert, nowMs);
  if (reason !== undefined) return [{ level: 'fail', what, found: reason, change }];
  const validity = validityOf(material.cert);
  const found = `valid until ${new Date(validity.toMs).toISOString()}`;
  if (!isEnding(validity, nowMs)) return [{ level: 'ok', what, found }];
  return [{ level: 'warn', what, found: `${found} only`, change }];
}
