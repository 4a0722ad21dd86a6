import { existsSync } from 'node:fs';
import { type CongestionControl, DEPOT_CONGESTION_CONTROL, USUAL_CONGESTION_CONTROL } from '@longhaul/shared';
import type { Site } from './topology.ts';

/** Linux's usual maximum, 6 MiB. */
const DEFAULT_RECEIVE_BUFFER_BYTES = 6_291_456;
/** First and second value of Linux's usual `tcp_rmem`. */
const LEAST_RECEIVE_BUFFER_BYTES = 4096;
const FIRST_RECEIVE_BUFFER_BYTES = 131_072;
/** Minimum, start and maximum of a sender's buffer: large enough never to be the limit. */
const SEND_BUFFERS = '4096 16384 16777216';

/** What holds at a site when its entry says nothing else. */
export function siteSettings(site: Site): {
  readonly congestionControl: CongestionControl;
  readonly receiveBufferBytes: number;
} {
  return {
    congestionControl:
      site.congestionControl ?? (site.role === 'depot' ? DEPOT_CONGESTION_CONTROL : USUAL_CONGESTION_CONTROL),
    receiveBufferBytes: site.receiveBufferBytes ?? DEFAULT_RECEIVE_BUFFER_BYTES,
  };
}

/** The kernel's settings for a site's namespace, as `name=value`. */
export function siteSysctls(site: Site): string[] {
  const { congestionControl, receiveBufferBytes } = siteSettings(site);
  const settings = [
    'net.ipv4.ip_forward=1',
    // A route may differ from the way back; packets are taken wherever they arrive.
    'net.ipv4.conf.all.rp_filter=0',
    'net.ipv4.conf.default.rp_filter=0',
    // Otherwise what one transfer learned of a path changes the next one.
    'net.ipv4.tcp_no_metrics_save=1',
    `net.ipv4.tcp_wmem=${SEND_BUFFERS}`,
    receiveBufferSysctl(receiveBufferBytes),
    congestionControlSysctl(congestionControl),
  ];
  // IPv6's own packets (router solicitations, MLD) would take draws from the emulator's random streams.
  if (existsSync('/proc/sys/net/ipv6'))
    settings.push('net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1');
  return settings;
}

/** Largest receive buffer in bytes; `tcp_rmem`. */
export function receiveBufferSysctl(bytes: number): string {
  return `net.ipv4.tcp_rmem=${LEAST_RECEIVE_BUFFER_BYTES} ${Math.min(FIRST_RECEIVE_BUFFER_BYTES, bytes)} ${bytes}`;
}

export function congestionControlSysctl(name: CongestionControl): string {
  return `net.ipv4.tcp_congestion_control=${name}`;
}
