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

/**
 * Reads a configuration file and the files it names; throws `config-invalid` that lists every mistake with its key.
 * Certificates must be for the hosts of the configuration that the depot has started with, where it runs already:
 * it has others only after a restart.
 */
export function loadDepotFiles(configFile: string, started?: DepotConfig): DepotFiles {
  const { config, baseDir } = readConfigFile(configFile, readDepotConfig);
  const { public: dialled, listen, entryGroup } = started ?? config;
  const files = readNamedFiles(baseDir, ({ secret, tls, authorities }) => {
    // Who asks for the group's name is answered with the depot's own certificate where it runs with no other one.
    if (entryGroup && !entryGroup.tls) tls('entryGroup.tls', config.tls, entryGroup.host);
    return {
      enrolmentSecret:
        config.master.enrolmentSecretFile &&
        secret('master.enrolmentSecretFile', config.master.enrolmentSecretFile),
      // What others dial.
      tls: tls('tls', config.tls, dialled?.host ?? listen.host),
      groupTls: tls('entryGroup.tls', config.entryGroup?.tls, entryGroup?.host),
      trustedAuthorities: authorities('trustedCaFiles', config.trustedCaFiles),
    };
  });
  return { config, stateDir: resolve(baseDir, config.stateDir), ...files };
}
