import type { FigureSource, LegPrediction, PlanAnswer, Prediction } from '@longhaul/shared';

/** A leg whose figures are all known in the same way; a measured one three seconds ago. */
export function leg(from: string, to: string, source: FigureSource): LegPrediction {
  const age = source === 'measured' ? { measuredAgeMs: 3000 } : {};
  return {
    from,
    to,
    rttMs: 10,
    goodputBps: 95e6,
    limit: 'rate',
    rttSource: source,
    goodputSource: source,
    ...age,
  };
}

export function prediction(
  seconds: number,
  source: FigureSource,
  legs: readonly LegPrediction[],
): Prediction {
  return { seconds, goodputBps: 95e6, setUpSeconds: 0.1, legs: [...legs], source };
}

/** A plan over d1 and d3, four times faster than direct, of which everything is measured. */
export function plan(patch: Partial<PlanAnswer> = {}): PlanAnswer {
  const stops = ['client', 'd1', 'd3', 'origin'];
  const legs = stops.slice(1).map((stop, index) => leg(stop, stops[index] ?? '', 'measured'));
  return {
    jobId: 'job-1',
    url: 'https://origin.example/file.iso',
    decision: 'chain',
    decisionReason: 'chain-faster',
    location: 'https://d1.example/file.iso?ticket',
    masterUrl: 'https://get.example/get/https/origin.example/file.iso',
    chain: ['d1', 'd3'],
    alternatives: [],
    lanes: 1,
    sizeBytes: 31_500_000,
    sizeSource: 'reported',
    fileSeen: true,
    prediction: prediction(10, 'measured', legs),
    direct: prediction(40, 'measured', [leg('origin', 'client', 'measured')]),
    reasons: [],
    startBefore: '2026-11-21T00:00:00Z',
    ...patch,
  };
}
