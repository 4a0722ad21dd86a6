/** Defaults that a build may bring along, so that a local overlay works without a visit to the options. */
export interface BuildDefaults {
  readonly master: string;
  readonly privateHosts: readonly string[];
  /** Whether whoever builds it has asked the users already: then there is no first run. */
  readonly consented?: boolean;
  /**
   * What master and entry depot may take together to answer, in ms, where they share a busy machine with the
   * browser.
   */
  readonly decisionMs?: number;
  /**
   * For how long an interrupted download waits for its own depot alone, in ms, where that is started again on
   * such a machine.
   */
  readonly ownDepotMs?: number;
}

/** Put in by the build; unit tests run without one. */
declare const __LONGHAUL_DEFAULTS__: BuildDefaults;

export const buildDefaults: BuildDefaults =
  typeof __LONGHAUL_DEFAULTS__ === 'undefined' ? { master: '', privateHosts: [] } : __LONGHAUL_DEFAULTS__;
