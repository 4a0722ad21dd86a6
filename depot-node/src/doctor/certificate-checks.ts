import { isEnding, type TlsMaterial, validityOf, whyNotValid } from '@longhaul/shared/service';
import type { DepotFiles } from '../config-file.ts';
import type { Finding } from './finding.ts';

/**
 * Whether clients would take the depot's certificates, now and for a while, and whether they need one. That
 * they are for its names is seen when they are read.
 */
export function checkCertificates(files: CertifiedFiles, nowMs: number): Finding[] {
  return [
    ...checkNeed(files),
    ...checkOne('tls', files.tls, nowMs),
    ...checkOne('entryGroup.tls', files.groupTls, nowMs),
  ];
}

interface CertifiedFiles extends Pick<DepotFiles, 'tls' | 'groupTls'> {
  readonly config: { readonly master: Pick<DepotFiles['config']['master'], 'url'> };
}

function checkNeed({ tls, config }: CertifiedFiles): Finding[] {
  if (tls || !config.master.url.startsWith('https:')) return [];
  return [
    {
      level: 'warn',
      what: 'certificate of tls',
      found: 'there is none: clients who come by https are led to it for no https origin, and for no tunnel',
      change: 'give it one with `tls`; without, it only stands between other depots and origins',
    },
  ];
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
