import type { StandingTunnel } from './leads.ts';

/** How one browser leads requests through tunnels. */
export interface Proxies {
  /** Whether the browser lets the add-on set proxies, and the user has set none of his own. */
  mayLead(): Promise<boolean>;
  /** Whether others would lose a proxy that they need as soon as anything is led. Never rejects. */
  takesProxies(): Promise<boolean>;
  /** What these patterns are for may have tunnels from now on. */
  watch(patterns: readonly string[]): void;
  /** These tunnels stand now. Resolves when the browser knows. */
  lead(standing: readonly StandingTunnel[]): Promise<void>;
  /** Sees that whatever the browser asks for can take this tunnel as soon as it stands. Never rejects. */
  introduce(tunnel: StandingTunnel): Promise<Introduction>;
}

/**
 * What came of it that a tunnel was introduced. `begun`: the entry depot has taken its ticket, and takes it
 * to its end; `failed`: it has not; `needless`: each request shows its ticket by itself.
 */
export type Introduction = 'begun' | 'failed' | 'needless';
