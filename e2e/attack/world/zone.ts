import type { Zone } from '../../overlay/names-server.ts';

/** Addresses that no download may ever come from: services of a machine itself, of a cloud, of the network inside. */
export const LOOPBACK_ADDRESS = '127.0.0.1';
export const METADATA_ADDRESS = '169.254.169.254';

export interface ZoneAddresses {
  readonly web: string;
  readonly inner: string;
  readonly origin: string;
  readonly metered: string;
  readonly d2: string;
}

/**
 * The names of the arena:
 *
 * - `*.files.example`: the honest origin
 * - `*.hostile.example`, `*.metered.example`: the attacker's origins
 * - `*.slow.example`: nobody answers
 * - `*.rebind.example`: the attacker's origin, and with each further question one of the addresses that must
 *   not be reached
 * - `<a>-<b>-<c>-<d>.ip.example`: the address a.b.c.d; several of them, joined by `.and.`, for a name with
 *   several
 */
export function arenaZone({ web, inner, origin, metered, d2 }: ZoneAddresses): Zone {
  const forbidden = [LOOPBACK_ADDRESS, inner, METADATA_ADDRESS, d2];
  return (name, asked) => {
    const [, first = '', domain = ''] = /^(.*)\.([a-z]+)\.example$/.exec(name) ?? [];
    switch (domain) {
      case 'files':
        return [web];
      case 'hostile':
        return [origin];
      case 'metered':
        return [metered];
      case 'slow':
        return 'silent';
      case 'rebind':
        return asked % 2 === 0 ? [origin] : [forbidden[(asked >> 1) % forbidden.length] ?? inner];
      case 'ip':
        return readAddresses(first);
      default:
        return undefined;
    }
  };
}

function readAddresses(text: string): readonly string[] | undefined {
  const addresses = text.split('.and.').map((part) => part.replaceAll('-', '.'));
  return addresses.every((address) => /^[0-9]+(\.[0-9]+){3}$/.test(address)) ? addresses : undefined;
}
