import type { OriginUrl } from '@longhaul/shared';

/** Where an origin is reached. */
export type OriginPlace = Pick<OriginUrl, 'host' | 'port'>;

/** Where the bytes of downloads come from that are asked for elsewhere. */
export interface LedTo extends OriginPlace {
  /** Whether several depots say so. */
  readonly isAgreed: boolean;
  /** Whether downloads of the network that asks say so. */
  readonly isOwn: boolean;
  /** Whether a depot has measured it. */
  readonly isMet: boolean;
}

/** The host that what is asked for at `host` is planned by: where it leads, if a depot has met that. */
export function plannedHost(host: string, led: LedTo | undefined): string {
  return led?.isMet ? led.host : host;
}

/**
 * The origins that the exit depot of what is asked for at `url` has to reach: where it leads as well, unless
 * that is a single depot's word for all, which would take others their exits from honest origins.
 */
export function originsOf(url: OriginPlace, led: LedTo | undefined): readonly OriginPlace[] {
  return led && (led.isAgreed || led.isOwn) ? [url, led] : [url];
}
