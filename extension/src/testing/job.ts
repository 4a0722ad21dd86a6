import type { Job } from '../jobs/job.ts';

/** A job that runs as download 2, in place of download 1. */
export function job(patch: Partial<Job> = {}): Job {
  return {
    key: 'a',
    state: 'chain',
    originalId: 1,
    downloadId: 2,
    url: 'https://master.example/get/https/origin.example:443/file.iso',
    originUrl: 'https://origin.example/file.iso',
    name: 'file.iso',
    chain: ['pe-1', 'rj-1'],
    predictedSeconds: 10,
    directSeconds: 50,
    resumes: 0,
    resumedAtBytes: 0,
    ...patch,
  };
}
