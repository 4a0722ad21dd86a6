import { expect, test } from 'vitest';
import { Terminal } from './terminal.ts';

function startedWith(...terminals: number[]) {
  const open = new Set(terminals);
  const terminal = new Terminal((descriptor) => open.has(descriptor));
  return { terminal, close: () => open.clear() };
}

test('a hang-up with the end of the terminal says that somebody has closed it', () => {
  const { terminal, close } = startedWith(0, 1, 2);
  terminal.look();
  expect(terminal.hangsUp).toBe(false);
  close();
  expect(terminal.hangsUp).toBe(true);
});

test('one that comes a moment later says so, too', () => {
  const { terminal, close } = startedWith(2);
  close();
  terminal.look();
  expect(terminal.hangsUp).toBe(true);
});

test('a service that was left running when its terminal ended takes later ones for requests', () => {
  const { terminal, close } = startedWith(0);
  close();
  terminal.look();
  terminal.look();
  expect(terminal.hangsUp).toBe(false);
});

test('a service without a terminal has none to lose', () => {
  const { terminal, close } = startedWith();
  close();
  expect(terminal.hangsUp).toBe(false);
});
