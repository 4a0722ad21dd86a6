import type { SaveWatch } from '../files/state-folder.ts';

interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** Says in a service's log of each file of its state that it cannot be saved, once until it can, and then that. */
export function tellSaves(log: Log): SaveWatch {
  return {
    onFailing: ({ code, message }) => log.error({ code }, `not saved: ${message}`),
    onSavedAgain: (file) => log.info({ file }, 'saved again'),
  };
}
