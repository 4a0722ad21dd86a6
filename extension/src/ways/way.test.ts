import { expect, it } from 'vitest';
import { factsOf } from '../judge/file-facts.ts';
import { download, NOW_MS } from '../testing/fake-downloads.ts';
import { plan } from '../testing/plan.ts';
import { newJob } from './way.ts';

it.each([
  ['assumed', 5_000_000, 1, 5],
  ['assumed', undefined, 10, 50],
  ['option', 5_000_000, 10, 50],
] as const)(
  'says what a file takes for the size that it has, where the plan was for another one (size %s, file of %s bytes)',
  (sizeSource, totalBytes, predictedSeconds, directSeconds) => {
    const file = { ...factsOf(200, new Headers()), totalBytes };
    const order = {
      original: download(),
      originUrl: 'https://origin.example/file.iso',
      page: '',
      file,
      inOnePiece: false,
      plan: plan({ sizeSource }),
      reportsTo: undefined,
    };
    const job = newJob(order, NOW_MS, { url: order.originUrl });
    expect(job).toMatchObject({ predictedSeconds, directSeconds });
  },
);
