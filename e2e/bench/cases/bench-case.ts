import type { CertificateFiles } from '../../lab/hosts/scenario-certificates.ts';
import type { Network } from '../../lab/network/network.ts';
import type { CaseId } from './case-id.ts';

export interface CaseCertificate extends CertificateFiles {
  /** Certificate and key in one file, as HAProxy wants them. */
  readonly bothFile: string;
}

/** What every case finds ready. */
export interface CaseStage {
  readonly network: Network;
  /** The one address of the network. */
  readonly host: string;
  /**
   * Bodies of zeros at `/b<bytes>`; at `/stated/b<bytes>` with their digest, at `/whole/b<bytes>` without
   * ranges or validator.
   */
  readonly origin: { readonly httpPort: number; readonly httpsPort: number };
  /** By the kind of their key; one authority for both. */
  readonly certificates: { readonly ecdsa: CaseCertificate; readonly rsa: CaseCertificate };
  /** Fewer bytes, shorter times. */
  readonly isQuick: boolean;
}

/** One that takes part in a case. */
export interface Party {
  readonly name: string;
  /** Runs once and gives what it measured; rejects when anything went wrong. */
  readonly measure: () => Promise<Readonly<Record<string, number>>>;
}

/** A case that is ready to be run. */
export interface StartedCase {
  readonly parties: readonly Party[];
  readonly stop: () => Promise<void>;
}

export interface BenchCase {
  readonly id: CaseId;
  /** A warm-up of each party, which is not counted; not where the first use is what is measured. */
  readonly warmsUp: boolean;
  readonly start: (stage: CaseStage) => Promise<StartedCase>;
}
