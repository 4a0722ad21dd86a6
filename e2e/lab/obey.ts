import { closeAllNetworks } from './network/start-network.ts';
import { LabRefusal } from './refusal.ts';

/** As programs that were interrupted say. */
const INTERRUPTED_EXIT_CODE = 130;

/**
 * Does what a command line asks for: a refusal becomes a sentence and exit code 2; whatever ends the program,
 * no network of it stays behind. The signal aborts when somebody interrupts it.
 */
export async function obey(command: (interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted.abort();
      void closeAllNetworks().finally(() => process.exit(INTERRUPTED_EXIT_CODE));
    });
  }
  try {
    await command(interrupted.signal);
  } catch (failure) {
    await closeAllNetworks();
    if (interrupted.signal.aborted) process.exit(INTERRUPTED_EXIT_CODE);
    if (!(failure instanceof LabRefusal)) throw failure;
    process.stderr.write(`${failure.code}: ${failure.message}\n`);
    process.exitCode = 2;
  }
}
