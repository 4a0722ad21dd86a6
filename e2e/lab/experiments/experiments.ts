import type { Experiment } from '../experiment.ts';
import { FAILOVER } from './failover.ts';
import { MATRIX } from './matrix.ts';
import { RNP } from './rnp.ts';
import { SIGNALLING } from './signalling.ts';
import { SPLIT } from './split.ts';
import { WAYS } from './ways.ts';

/** All experiments; a new one is one more file beside these, and its line here. */
export const EXPERIMENTS: readonly Experiment[] = [MATRIX, RNP, SPLIT, SIGNALLING, FAILOVER, WAYS];
