import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { LonghaulError } from '@longhaul/shared';
import { parse } from 'yaml';
import { type DepotConfig, readDepotConfig } from './config.ts';
import type { TlsMaterial } from './sockets/listener.ts';

/** A configuration with everything that its files hold. */
export interface DepotFiles {
  readonly config: DepotConfig;
  /** Absolute path of the state folder. */
  readonly stateDir: string;
  readonly enrolmentSecret: string;
  readonly tls: TlsMaterial | undefined;
  readonly trustedAuthorities: readonly string[];
}

/** Reads a configuration file and the files it names; throws `config-invalid` that lists every mistake with its key. */
export function loadDepotFiles(configFile: string): DepotFiles {
  const config = readDepotConfig(parseYaml(readText(configFile), configFile));
  const base = dirname(resolve(configFile));
  const mistakes: string[] = [];
  const attempt = <T>(key: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (failure) {
      mistakes.push(`\n  - ${key}: ${reasonOf(failure)}`);
      return undefined;
    }
  };
  const text = (path: string) => readText(resolve(base, path));

  const secret = attempt('master.enrolmentSecretFile', () => text(config.master.enrolmentSecretFile).trim());
  const { tls } = config;
  const material = tls && attempt('tls', () => readTls(text(tls.certFile), text(tls.keyFile)));
  const trusted = config.trustedCaFiles.map((path, index) =>
    attempt(`trustedCaFiles.${index}`, () => readAuthority(text(path))),
  );
  if (mistakes.length > 0 || secret === undefined) {
    throw new LonghaulError('config-invalid', { detail: mistakes.join('') });
  }
  return {
    config,
    stateDir: resolve(base, config.stateDir),
    enrolmentSecret: secret,
    tls: material,
    trustedAuthorities: trusted.filter((pem) => pem !== undefined),
  };
}

/** Throws when the text does not begin with a PEM certificate. */
function readAuthority(pem: string): string {
  void new X509Certificate(pem);
  return pem;
}

function readTls(cert: string, key: string): TlsMaterial {
  createSecureContext({ cert, key });
  return { cert, key };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new LonghaulError('config-invalid', { detail: `${path} cannot be read`, cause });
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
