import type { PlanAnswer, Prediction } from '@longhaul/shared';

const prediction = (seconds: number): Prediction => ({
  seconds,
  goodputBps: 1e8,
  setUpSeconds: 0.5,
  legs: [],
  source: 'measured',
});

/** A plan over two depots, five times faster than the direct way. */
export function plan(patch: Partial<PlanAnswer> = {}): PlanAnswer {
  return {
    jobId: 'job-1',
    url: 'https://origin.example/file.iso',
    decision: 'chain',
    decisionReason: 'chain-faster',
    location: 'https://depot.example/file.iso?ticket',
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
