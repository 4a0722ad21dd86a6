import { whenNpmGoes } from '@longhaul/shared/service';

/**
 * Ends this process, as a terminate does, once the npm that runs it, or the program that gave it a channel,
 * has gone.
 */
export function endWithStarter(): void {
  const end = () => process.kill(process.pid, 'SIGTERM');
  whenNpmGoes(end);
  if (!process.channel) return;
  process.on('disconnect', end);
  // Whoever listens for that is not to be kept alive by it.
  process.channel.unref();
}
