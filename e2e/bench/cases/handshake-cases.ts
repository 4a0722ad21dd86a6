import { setTimeout as delay } from 'node:timers/promises';
import { rounded } from '../../lab/results/rounded.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchCase, CaseStage, Party } from './bench-case.ts';
import type { CaseId } from './case-id.ts';
import { startCaseOverlay } from './case-overlay.ts';
import { STEADY_PORT } from './open-case-stage.ts';
import { runClient } from './run-client.ts';
import { startTlsProxy, type TlsProxyId } from './tls-proxies.ts';

const FIRST_PORT = 9310;
const RIVALS: readonly TlsProxyId[] = ['nginx', 'haproxy', 'node'];
const SECONDS = 2;
const QUICK_SECONDS = 1;
/** Handshakes of one run: as many for everybody, so that what is not theirs weighs the same. */
const COUNT = 3000;
const QUICK_COUNT = 800;
/** Of handshakes a second, beside a body. */
const RATE = 500;
/** Until what has ended has been worked off. */
const SETTLE_MS = 100;
/** Loads the core of the traffic after all else there, and reads before it. */
const LAST = 10;
const FIRST = -10;

interface Counts {
  readonly handshakes: number;
  readonly resumed: number;
  readonly failed: number;
  readonly seconds: number;
}

export const HANDSHAKE_CASES: readonly BenchCase[] = [
  handshakeCase('handshakes-ecdsa', 'ecdsa'),
  handshakeCase('handshakes-rsa', 'rsa'),
  { id: 'handshakes-beside-body', warmsUp: true, start: startBesideBody },
];

function handshakeCase(id: CaseId, kind: 'ecdsa' | 'rsa'): BenchCase {
  return {
    id,
    warmsUp: true,
    start: (stage) =>
      startParties(stage, kind, stage.origin.httpPort, (name, pid, url) => ({
        name,
        measure: async () => ({
          newPerCpuSecond: await perCpuSecond(stage, pid, url, 'new'),
          resumedPerCpuSecond: await perCpuSecond(stage, pid, url, 'resumed'),
        }),
      })),
  };
}

async function perCpuSecond(
  stage: CaseStage,
  pid: number,
  url: string,
  mode: 'new' | 'resumed',
): Promise<number> {
  const group = processGroup(pid);
  const before = group.cpuNs();
  const counts = await shakeHands(stage, url, mode, stage.isQuick ? QUICK_COUNT : COUNT);
  await delay(SETTLE_MS);
  const cpuSeconds = Number(group.cpuNs() - before) / 1e9;
  const { handshakes, resumed, failed } = counts;
  if (failed > 0) throw new Error(`${failed} of ${handshakes + failed} handshakes failed`);
  if (mode === 'resumed' && resumed < handshakes)
    throw new Error(`${resumed} of ${handshakes} sessions were resumed`);
  return rounded(handshakes / cpuSeconds, 0);
}

/** So many handshakes; with a rate, for so many seconds. */
function shakeHands(
  stage: CaseStage,
  url: string,
  mode: 'new' | 'resumed',
  amount: number,
  rate?: number,
): Promise<Counts> {
  const { hostname, port } = new URL(url);
  const { caFile } = stage.certificates.ecdsa;
  return runClient<Counts>(stage, {
    program: 'handshakes-main.ts',
    args: [hostname, port, caFile, mode, String(amount), ...(rate === undefined ? [] : [String(rate)])],
    niceness: LAST,
  });
}

function startBesideBody(stage: CaseStage) {
  return startParties(stage, 'ecdsa', STEADY_PORT, (name, _, url, addressOf) => ({
    name,
    measure: async () => {
      const alone = await steadyBody(stage, addressOf());
      const [beside, counts] = await Promise.all([
        steadyBody(stage, addressOf()),
        shakeHands(stage, url, 'new', stage.isQuick ? QUICK_SECONDS : SECONDS, RATE),
      ]);
      return {
        longestAloneMs: rounded(alone.worstMs, 1),
        longestMs: rounded(beside.worstMs, 1),
        handshakesPerSecond: rounded(counts.handshakes / counts.seconds, 0),
      };
    },
  }));
}

function steadyBody(stage: CaseStage, address: string): Promise<{ readonly worstMs: number }> {
  // A little longer than the handshakes, whose program begins at the same time.
  const seconds = String((stage.isQuick ? QUICK_SECONDS : SECONDS) + 1);
  return runClient(stage, {
    program: 'steady-body-main.ts',
    args: [stage.host, String(STEADY_PORT), seconds, stage.certificates.ecdsa.caFile],
    input: address,
    niceness: FIRST,
  });
}

type PartyOf = (name: string, pid: number, url: string, addressOf: () => string) => Party;

/** A depot and the rivals before one origin. */
async function startParties(stage: CaseStage, kind: 'ecdsa' | 'rsa', originPort: number, partyOf: PartyOf) {
  const certificate = stage.certificates[kind];
  const overlay = await startCaseOverlay(stage, {
    depots: [{ id: 'd1', cores: 'relay' }],
    certificate,
  });
  const asked = { chain: ['d1'], path: '/', port: originPort };
  const ours = partyOf('longhaul', overlay.pidOf('d1'), overlay.urlOf('d1'), () => overlay.address(asked));
  const rivals = await Promise.all(
    RIVALS.map(async (id, index) => {
      const port = FIRST_PORT + index;
      const spec = { id, port, certificate, isOriginSecure: false, originPort, workers: 1 };
      const proxy = await startTlsProxy(stage, spec);
      return { proxy, party: partyOf(id, proxy.pid, proxy.url, () => `${proxy.url}/`) };
    }),
  );
  return {
    parties: [ours, ...rivals.map(({ party }) => party)],
    stop: async () => {
      for (const { proxy } of rivals) proxy.stop();
      await overlay.stop();
    },
  };
}
