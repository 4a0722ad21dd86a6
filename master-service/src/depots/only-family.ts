import { type AddressFamily, isAddressLiteral, publicFamily, type Result } from '@longhaul/shared';
import { isOwnFault } from '@longhaul/shared/service';

/** The addresses of a depot's host. */
export interface FoundAddresses {
  readonly addresses: readonly string[];
  /** Whether clients find no others: DNS has told all of them. */
  readonly isAll: boolean;
}

/**
 * The family without which no client reaches a depot that has proved an address; `answers` are those of the
 * addresses that were asked. `undefined` where either family does, or nobody knows. By its name clients that
 * have IPv6 alone reach an IPv4 address, too: their resolver makes one of IPv6 of it (DNS64, RFC 6147).
 * Nothing helps those that have IPv4 alone.
 */
export function onlyFamilyOf(
  host: string,
  { addresses, isAll }: FoundAddresses,
  answers: ReadonlyMap<string, Result<string> | undefined>,
): AddressFamily | undefined {
  if (isAddressLiteral(host)) return publicFamily(host);
  const others = addresses.filter((address) => publicFamily(address) !== 'IPv6');
  return isAll && others.every((address) => isInVain(answers.get(address))) ? 'IPv6' : undefined;
}

/** Whether an address was asked, and it is not this machine that could not. */
function isInVain(answer: Result<string> | undefined): boolean {
  return answer !== undefined && !answer.ok && !isOwnFault(answer.error);
}
