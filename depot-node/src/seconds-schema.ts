import * as z from 'zod';

/** A week. Timers hold no more than 24 days, sums of three times included; past that they would fire at once. */
const MAX_SECONDS = 604_800;

/** A time of the configuration, in seconds, with the one that counts where none is given. */
export const seconds = (preset: number) =>
  z
    .number()
    .positive('must be more than 0 seconds')
    .max(MAX_SECONDS, `must be at most ${MAX_SECONDS} seconds`)
    .default(preset);
