import { Counter, Gauge, Registry } from 'prom-client';
import type { DepotEvent } from './events.ts';

/** A depot's counters. No label ever holds a URL, a host or a message. */
export function createMetrics(activeTransfers: () => number) {
  const registry = new Registry();
  const registers = [registry];
  const transfers = new Counter({
    name: 'longhaul_depot_transfers_total',
    help: 'Downloads served as entry depot, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const bodyBytes = new Counter({
    name: 'longhaul_depot_body_bytes_total',
    help: 'Body bytes sent to clients as entry depot',
    registers,
  });
  const tunnels = new Counter({
    name: 'longhaul_depot_tunnels_total',
    help: 'Tunnels that ended, by role in the chain and outcome',
    labelNames: ['role', 'outcome'],
    registers,
  });
  const tunnelBytes = new Counter({
    name: 'longhaul_depot_tunnel_bytes_total',
    help: 'Bytes relayed in tunnels, by direction (down: towards the client)',
    labelNames: ['direction'],
    registers,
  });
  const refusals = new Counter({
    name: 'longhaul_depot_refusals_total',
    help: 'Requests refused or failed, by error code',
    labelNames: ['code'],
    registers,
  });
  const chainFailures = new Counter({
    name: 'longhaul_depot_chain_failures_total',
    help: 'Chains that could not be set up and were replaced, by error code',
    labelNames: ['code'],
    registers,
  });
  new Gauge({
    name: 'longhaul_depot_active',
    help: 'Transfers and tunnels running now',
    registers,
    collect() {
      this.set(activeTransfers());
    },
  });

  const observe = (event: DepotEvent) => {
    if (event.type === 'transfer') {
      transfers.inc({ outcome: event.outcome });
      bodyBytes.inc(event.bodyBytes);
    } else if (event.type === 'tunnel') {
      tunnels.inc({ role: event.role, outcome: event.outcome });
      tunnelBytes.inc({ direction: 'up' }, event.bytesUp);
      tunnelBytes.inc({ direction: 'down' }, event.bytesDown);
    } else if (event.type === 'refusal') {
      refusals.inc({ code: event.code });
    } else if (event.type === 'chain-failed') {
      chainFailures.inc({ code: event.code });
    }
  };
  return { registry, observe };
}
