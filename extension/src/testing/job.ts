import type { Job } from '../jobs/job.ts';
import { factsOf } from '../judge/file-facts.ts';
import { NOW_MS } from './fake-downloads.ts';
import { plan } from './plan.ts';
import { seenAnswer } from './seen-answer.ts';

/** A job that runs as download 2, in place of download 1. */
export function job(patch: Partial<Job> = {}): Job {
  return {
    key: 'a',
    state: 'running',
    way: 'chain',
    startedAtMs: NOW_MS,
    originalId: 1,
    downloadId: 2,
    url: plan().masterUrl,
    masterUrl: plan().masterUrl,
    originUrl: 'https://origin.example/file.iso',
    page: 'https://page.example/list',
    name: 'file.iso',
    file: factsOf(200, seenAnswer().headers),
    inOnePiece: false,
    chain: ['pe-1', 'rj-1'],
    predictedSeconds: 10,
    directSeconds: 50,
    bytes: 0,
    bytesAtMs: NOW_MS,
    interruption: undefined,
    spare: undefined,
    restarts: 0,
    leadRuleId: 1,
    ...patch,
  };
}
