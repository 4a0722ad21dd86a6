import { LonghaulError } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { AddressProof } from './address-proof.ts';

const MINUTE_MS = 60_000;

function prove(proof: AddressProof, provedAtMs: number): void {
  proof.noteAsked(true, provedAtMs);
  proof.know({ provedAtMs, addresses: ['127.0.0.1'] }, undefined);
}

function fail(proof: AddressProof, nowMs: number): void {
  proof.noteAsked(false, nowMs);
  proof.know(proof.newest, new LonghaulError('depot-unreachable'));
}

describe('a proof of an address', () => {
  test('counts for half an hour and is renewed every five minutes', () => {
    const proof = new AddressProof();
    expect([proof.valid(0), proof.isDue(0)]).toEqual([undefined, true]);
    prove(proof, 0);
    expect(proof.valid(30 * MINUTE_MS)).toEqual({ provedAtMs: 0, addresses: ['127.0.0.1'] });
    expect(proof.valid(30 * MINUTE_MS + 1)).toBeUndefined();
    expect([5 * MINUTE_MS - 1, 5 * MINUTE_MS].map((nowMs) => proof.isDue(nowMs))).toEqual([false, true]);
  });

  test('is tried less and less often while it fails, at least every five minutes', () => {
    const proof = new AddressProof();
    const waits: number[] = [];
    let nowMs = 0;
    for (let round = 0; round < 9; round += 1) {
      fail(proof, nowMs);
      const failedAtMs = nowMs;
      while (!proof.isDue(nowMs)) nowMs += 1000;
      waits.push((nowMs - failedAtMs) / 1000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    proof.begin();
    expect(proof.isDue(nowMs)).toBe(true);
  });

  test('outlives a failure to renew it, and names the reason until it succeeds', () => {
    const proof = new AddressProof();
    prove(proof, 0);
    fail(proof, 5 * MINUTE_MS);
    expect(proof.valid(6 * MINUTE_MS)).toBeDefined();
    expect(proof.problem?.code).toBe('depot-unreachable');
    prove(proof, 6 * MINUTE_MS);
    expect(proof.problem).toBeUndefined();
  });

  test('is not prolonged by a clock that is set back', () => {
    const proof = new AddressProof();
    prove(proof, 60 * MINUTE_MS);
    expect(proof.valid(0)).toBeUndefined();
    expect(proof.isDue(0)).toBe(true);
  });
});
