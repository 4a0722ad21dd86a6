import { formatOriginRelayTarget, type PlanAnswer, type Prediction, parseOriginUrl } from '@longhaul/shared';

const TICKET = `a.b.${'c'.repeat(86)}`;

const prediction = (seconds: number): Prediction => ({
  seconds,
  goodputBps: 1e8,
  setUpSeconds: 0.5,
  legs: [],
  source: 'measured',
});

/** The address of a file at a depot. */
export function location(depot = 'https://depot.example', file = 'https://origin.example/file.iso'): string {
  const url = parseOriginUrl(file);
  if (!url.ok) throw url.error;
  return depot + formatOriginRelayTarget(TICKET, url.value);
}

/** A plan over two depots, five times faster than the direct way. */
export function plan(patch: Partial<PlanAnswer> = {}): PlanAnswer {
  return {
    jobId: 'job-1',
    url: 'https://origin.example/file.iso',
    decision: 'chain',
    decisionReason: 'chain-faster',
    location: location(),
    masterUrl: 'https://master.example/get/https/origin.example:443/file.iso',
    chain: ['pe-1', 'rj-1'],
    alternatives: [],
    lanes: 1,
    sizeBytes: 50_000_000,
    sizeSource: 'option',
    fileSeen: true,
    prediction: prediction(10),
    direct: prediction(50),
    reasons: [],
    startBefore: '2026-01-01T00:00:00Z',
    ...patch,
  };
}
