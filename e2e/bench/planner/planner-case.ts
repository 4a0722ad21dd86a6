/** Overlays that plans are made over: how many depots, how many links each, and how many of them know both ends. */
export const PLANNER_CASES = {
  'mesh-50': { depots: 50, links: 49, ends: 50, mostMs: 0.3, text: '50 depots in full mesh' },
  'mesh-200': { depots: 200, links: 199, ends: 200, mostMs: 2, text: '200 depots in full mesh' },
  'sparse-1000': { depots: 1000, links: 20, ends: 20, mostMs: 2, text: '1000 depots with 20 links each' },
} as const;

export type PlannerCaseId = keyof typeof PLANNER_CASES;
export const PLANNER_CASE_IDS = Object.keys(PLANNER_CASES) as readonly PlannerCaseId[];

/** Sizes of the files: a small one, some with lanes, one that takes long. */
export const SIZES: readonly number[] = [100_000, 5_000_000, 100_000_000, 5_000_000_000];
