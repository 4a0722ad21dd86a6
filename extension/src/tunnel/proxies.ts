import type { StandingTunnel } from './leads.ts';

/** How one browser leads requests through tunnels. */
export interface Proxies {
  /** Whether the browser lets the add-on set proxies, and the user has set none of his own. */
  mayLead(): Promise<boolean>;
  /** What these patterns are for may have tunnels from now on. */
  watch(patterns: readonly string[]): void;
  /** These tunnels stand now. */
  lead(standing: readonly StandingTunnel[]): void;
}
