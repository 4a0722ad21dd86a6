import { LonghaulError } from '@longhaul/shared';

/**
 * An origin that has said too often that it still works at its answer (`102 Processing`): who is patient may
 * get the file. It is asked over no other way: it would work for as long again.
 */
export class StillAtWork extends LonghaulError {
  constructor() {
    super('origin-bad-answer', { detail: 'it says again and again that it is still at work' });
  }
}
