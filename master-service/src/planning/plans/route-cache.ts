import { LruMap } from '@longhaul/shared/service';
import type { Route } from '../decision/route.ts';

/** A decision is as good for so long as the moment it was made: links change by the second at most. */
const SAME_ROUTE_MS = 1_000;
/** Decisions kept; each may hold on to the search that it came from. */
const MOST_ROUTES = 256;

interface Kept {
  readonly route: Route;
  readonly atMs: number;
}

/**
 * What was decided within the last second for one client, origin and size: a page with many links is decided
 * about once.
 */
export class RouteCache {
  #routes = new LruMap<string, Kept>(MOST_ROUTES);
  #state = '';

  /** The same decision, where it was made for the same question while the same depots were up. */
  get(key: string, state: string, nowMs: number): Route | undefined {
    const kept = state === this.#state ? this.#routes.get(key) : undefined;
    return kept && Math.abs(nowMs - kept.atMs) < SAME_ROUTE_MS ? kept.route : undefined;
  }

  clear(): void {
    this.#routes = new LruMap(MOST_ROUTES);
  }

  set(key: string, state: string, route: Route, nowMs: number): void {
    // Of other depots nothing holds any more.
    this.#state = state;
    this.#routes.set(key, { route, atMs: nowMs });
  }
}
