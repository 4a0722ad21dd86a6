import { readFileSync } from 'node:fs';
import { hashAuthority, hashOriginUrl, issueTicket, parseOriginUrl } from '@longhaul/shared';
import { parseKeyPair, sha256 } from '@longhaul/shared/service';

const LIFE_SECONDS = 86_400;
/** Far more than a benchmark takes. */
const BUDGET_BYTES = 1e15;
const BUDGET_CONNECTIONS = 1e9;

/** A client's ticket for tunnels through one depot to `authority` (`host:port`), signed with the master's own key. */
export function tunnelTicket(wanted: {
  readonly depot: string;
  readonly host: string;
  readonly port: number;
  readonly keyId: string;
  /** PEM, in the master's state folder. */
  readonly keyFile: string;
}): string {
  const { depot, host, port, keyId } = wanted;
  const url = parseOriginUrl(`http://${host}:${port}/`);
  if (!url.ok) throw url.error;
  const issuedAt = Math.floor(Date.now() / 1000);
  const key = parseKeyPair(readFileSync(wanted.keyFile, 'utf8'), wanted.keyFile);
  return issueTicket(
    {
      jobId: `bench-${depot}`,
      kind: 'tunnel',
      urlHash: hashOriginUrl(url.value, sha256),
      authorityHash: hashAuthority(host, port, sha256),
      chains: [[depot]],
      promises: [{ rateBps: 1e9, worstRttMs: 1, worstLossRate: 0 }],
      lanes: 1,
      budgetBytes: BUDGET_BYTES,
      budgetConnections: BUDGET_CONNECTIONS,
      issuedAt,
      lastStart: issuedAt + LIFE_SECONDS,
      endOfLife: issuedAt + LIFE_SECONDS,
    },
    keyId,
    key.sign,
  );
}
