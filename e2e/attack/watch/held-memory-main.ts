/**
 * Loaded into each service before its program: at SIGUSR2 it collects garbage and writes down what the
 * process holds then, in bytes, into `<pid>.held` in its folder. From outside that cannot be told: a heap
 * that has been large keeps its pages.
 */
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const file = `${process.pid}.held`;
  // Under its name it is there as a whole or not at all.
  writeFileSync(`${file}.part`, String(heapUsed + external));
  renameSync(`${file}.part`, file);
});
