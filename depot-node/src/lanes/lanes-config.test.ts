import { KIB, MIB } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { lanesSchema } from './lanes-config.ts';

test('nothing has to be configured, and blocks of all lanes together fit into the buffer', () => {
  const { alphaBytes, bufferBytes, control } = lanesSchema.parse({});
  expect({ alphaBytes, bufferBytes, control }).toEqual({
    alphaBytes: 2.5 * MIB,
    bufferBytes: 16 * MIB,
    control: 'coupled',
  });
});

test.each([
  [{ control: 'other' }, 'control'],
  [{ bufferBytes: 1000 }, 'bufferBytes'],
  [{ bufferBytes: MIB, leastBlockBytes: 256 * KIB }, 'bufferBytes'],
  [{ bufferBytes: MIB, alphaBytes: 2 * MIB }, 'alphaBytes'],
  [{ firstBlockBytes: 64 * KIB, leastBlockBytes: 128 * KIB }, 'leastBlockBytes'],
  [{ gain: 0 }, 'gain'],
  [{ perOrigin: 0 }, 'perOrigin'],
  [{ retrySeconds: 0 }, 'retrySeconds'],
  [{ silenceSeconds: 604_801 }, 'silenceSeconds'],
  [{ unknown: 1 }, undefined],
])('says which value of %o is wrong', (input, key) => {
  const { success, error } = lanesSchema.safeParse(input);
  expect(success).toBe(false);
  expect(new Set(error?.issues.map(({ path }) => path[0]))).toEqual(new Set([key]));
});
