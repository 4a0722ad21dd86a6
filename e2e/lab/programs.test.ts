import { afterEach, expect, it, vi } from 'vitest';
import { requireProgram } from './programs.ts';
import { LabRefusal } from './refusal.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('refuses a missing program with the command that installs it and the variant that can be left out', () => {
  vi.stubEnv('PATH', '');
  expect(() => requireProgram('aria2c')).toThrow(LabRefusal);
  expect(() => requireProgram('aria2c')).toThrow(
    'aria2c is not installed: apt-get install aria2, or leave the variant aria2-16 out with --variants',
  );
});
