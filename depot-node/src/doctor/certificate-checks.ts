import { X509Certificate } from 'node:crypto';
import { type TlsMaterial, whyNotValid } from '@longhaul/shared/service';
import type { DepotFiles } from '../config-file.ts';
import type { Finding } from './finding.ts';

/** Whether clients would take the depot's certificates now. That they are for its names is seen when they are read. */
export function checkCertificates(files: Pick<DepotFiles, 'tls' | 'groupTls'>, nowMs: number): Finding[] {
  return [...checkOne('tls', files.tls, nowMs), ...checkOne('entryGroup.tls', files.groupTls, nowMs)];
}

function checkOne(key: string, material: TlsMaterial | undefined, nowMs: number): Finding[] {
  if (!material) return [];
  const what = `certificate of ${key}`;
  const reason = whyNotValid(material.cert, nowMs);
  if (reason === undefined) {
    const until = new X509Certificate(material.cert).validToDate.toISOString();
    return [{ level: 'ok', what, found: `valid until ${until}` }];
  }
  const change = 'renew it, or set the clock; a depot that runs reads it again when it gets SIGHUP';
  return [{ level: 'fail', what, found: reason, change }];
}
