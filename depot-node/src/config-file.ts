import { resolve } from 'node:path';
import { readConfigFile, readNamedFiles, type TlsMaterial } from '@longhaul/shared/service';
import { type DepotConfig, readDepotConfig } from './config.ts';

/** What the files hold that a configuration names; it can be replaced while the depot runs. */
export interface DepotMaterial {
  /** Of a depot that has not joined with a token. */
  readonly enrolmentSecret: string | undefined;
  readonly tls: TlsMaterial | undefined;
  /** Of the name that its entry group has. */
  readonly groupTls?: TlsMaterial | undefined;
  /** PEM texts of authorities trusted beside the usual ones. */
  readonly trustedAuthorities: readonly string[];
}

/** A configuration with everything that its files hold. */
export interface DepotFiles extends DepotMaterial {
  readonly config: DepotConfig;
  /** Absolute path of the state folder. */
  readonly stateDir: string;
}

/** Reads a configuration file and the files it names; throws `config-invalid` that lists every mistake with its key. */
export function loadDepotFiles(configFile: string): DepotFiles {
  const { config, baseDir } = readConfigFile(configFile, readDepotConfig);
  const files = readNamedFiles(baseDir, ({ secret, tls, authorities }) => ({
    enrolmentSecret:
      config.master.enrolmentSecretFile &&
      secret('master.enrolmentSecretFile', config.master.enrolmentSecretFile),
    // What others dial.
    tls: tls('tls', config.tls, config.public?.host ?? config.listen.host),
    groupTls: tls('entryGroup.tls', config.entryGroup?.tls, config.entryGroup?.host),
    trustedAuthorities: authorities('trustedCaFiles', config.trustedCaFiles),
  }));
  return { config, stateDir: resolve(baseDir, config.stateDir), ...files };
}
