import { factsOf } from '../judge/file-facts.ts';
import type { TakeOrder } from '../ways/way.ts';
import { download } from './fake-downloads.ts';
import { plan } from './plan.ts';
import { seenAnswer } from './seen-answer.ts';

/** An order to take `download()` along `plan()`. */
export function order(patch: Partial<TakeOrder> = {}): TakeOrder {
  return {
    original: download(),
    originUrl: 'https://origin.example/file.iso',
    page: 'https://page.example/list',
    file: factsOf(200, seenAnswer().headers),
    inOnePiece: false,
    plan: plan(),
    ...patch,
  };
}
