import { expect, it } from 'vitest';
import { HeldKeys } from './held-keys.ts';

function setUp() {
  const world = { nowMs: 0 };
  return Object.assign(world, { keys: new HeldKeys(() => world.nowMs) });
}

it('knows the key of the last click on a page, for as long as a server may think', () => {
  const world = setUp();
  world.keys.clicked('https://page.example/list?x', ['alt']);
  expect(world.keys.isHeld('https://page.example', 'alt')).toBe(true);
  expect(world.keys.isHeld('https://page.example', 'ctrl')).toBe(false);
  expect(world.keys.isHeld('https://other.example', 'alt')).toBe(false);
  expect(world.keys.isHeld('https://page.example', 'none')).toBe(false);
  world.nowMs = 11_000;
  expect(world.keys.isHeld('https://page.example', 'alt')).toBe(false);
});

it('forgets the key with the next click that has none', () => {
  const { keys } = setUp();
  keys.clicked('https://page.example/', ['alt']);
  keys.clicked('https://page.example/', []);
  expect(keys.isHeld('https://page.example/', 'alt')).toBe(false);
});
