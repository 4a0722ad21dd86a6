import { spawnSync } from 'node:child_process';
import { expect, inject, test } from 'vitest';

const natsServer = inject('natsServer');

test.skipIf(natsServer === '' && !process.env.CI)(
  'the tests have a nats-server that is new enough for the keys that operators are given',
  () => {
    const { stdout } = spawnSync(natsServer, ['--version'], { encoding: 'utf8' });
    const [, major, minor] = /v(\d+)\.(\d+)\./.exec(stdout) ?? [];
    expect(Number(major)).toBe(2);
    expect(Number(minor)).toBeGreaterThanOrEqual(12);
  },
);
