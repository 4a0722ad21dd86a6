import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { rounded } from '../../lab/results/rounded.ts';
import { processGroup } from '../measure/process-group.ts';
import type { BenchCase, CaseStage, Party } from './bench-case.ts';
import type { CaseId } from './case-id.ts';
import { startCaseOverlay } from './case-overlay.ts';
import { takeByCurl } from './curl-sink.ts';
import { LARGE_BYTES, MANY_BYTES, QUICK_LARGE_BYTES } from './open-case-stage.ts';
import { startTlsProxy, type TlsProxyId } from './tls-proxies.ts';

interface TlsLoad {
  readonly id: CaseId;
  readonly flows: number;
  readonly isOriginSecure: boolean;
  /** Whether relays have all cores. */
  readonly isWide: boolean;
}

/** Until the ends of the downloads have been worked off. */
const SETTLE_MS = 150;
const FIRST_PORT = 9300;
const RIVALS: readonly TlsProxyId[] = ['nginx', 'haproxy', 'node'];

export const TLS_CASES: readonly BenchCase[] = [
  tlsCase({ id: 'tls-http-1', flows: 1, isOriginSecure: false, isWide: false }),
  tlsCase({ id: 'tls-http-64', flows: 64, isOriginSecure: false, isWide: false }),
  tlsCase({ id: 'tls-https-1', flows: 1, isOriginSecure: true, isWide: false }),
  tlsCase({ id: 'tls-https-64', flows: 64, isOriginSecure: true, isWide: false }),
  tlsCase({ id: 'tls-cores-64', flows: 64, isOriginSecure: false, isWide: true }),
];

function tlsCase({ id, flows, isOriginSecure, isWide }: TlsLoad): BenchCase {
  return {
    id,
    warmsUp: true,
    start: async (stage) => {
      const large = stage.isQuick ? QUICK_LARGE_BYTES : LARGE_BYTES;
      const bodyBytes = flows === 1 ? large : MANY_BYTES;
      const path = `/b${bodyBytes}`;
      const certificate = stage.certificates.ecdsa;
      const overlay = await startCaseOverlay(stage, {
        depots: [{ id: 'd1', cores: isWide ? 'all' : 'relay' }],
        certificate,
      });
      const ours = measured(stage, 'longhaul', overlay.pidOf('d1'), bodyBytes, isWide, () =>
        Array.from({ length: flows }, () =>
          overlay.address({ chain: ['d1'], path, isSecure: isOriginSecure }),
        ),
      );
      const workers = isWide ? availableParallelism() : 1;
      const wanted = isWide ? RIVALS.filter((rival) => rival !== 'node') : RIVALS;
      const rivals = await Promise.all(
        wanted.map(async (rival, index) => {
          const port = FIRST_PORT + index;
          const proxy = await startTlsProxy(stage, { id: rival, port, certificate, isOriginSecure, workers });
          const addresses = () => Array.from({ length: flows }, () => proxy.url + path);
          return { proxy, party: measured(stage, rival, proxy.pid, bodyBytes, isWide, addresses) };
        }),
      );
      return {
        parties: [ours, ...rivals.map(({ party }) => party)],
        stop: async () => {
          for (const { proxy } of rivals) proxy.stop();
          await overlay.stop();
        },
      };
    },
  };
}

function measured(
  stage: CaseStage,
  name: string,
  pid: number,
  bodyBytes: number,
  isWide: boolean,
  addresses: () => readonly string[],
): Party {
  const group = processGroup(pid);
  return {
    name,
    measure: async () => {
      const asked = addresses();
      const [cpuBefore, threadsBefore] = [group.cpuNs(), group.threadsCpuNs()];
      const seconds = await takeByCurl(stage, { addresses: asked, bodyBytes });
      await delay(SETTLE_MS);
      const bodyGB = (asked.length * bodyBytes) / 1e9;
      const [busiest = 0, second = 0] = [...group.threadsCpuNs()]
        .map(([thread, ns]) => Number(ns - (threadsBefore.get(thread) ?? 0n)))
        .toSorted((a, b) => b - a);
      return {
        cpuSecondsPerGB: rounded(Number(group.cpuNs() - cpuBefore) / 1e9 / bodyGB, 4),
        goodputGbps: rounded((bodyGB * 8) / seconds, 3),
        ...(isWide ? { busySpread: rounded(second / busiest, 3) } : {}),
      };
    },
  };
}
