import type { RelayPlane } from './relay-plane.ts';
import { streamBody } from './stream-body.ts';
import { streamTunnel } from './stream-tunnel.ts';

/** Moves bytes through Node: on every system, over TLS, and where the kernel's way is not worth its set-up. */
export const streamPlane: RelayPlane = { kind: 'streams', tunnel: streamTunnel, body: streamBody };
