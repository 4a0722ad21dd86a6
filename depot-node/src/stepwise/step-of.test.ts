import { parseOriginUrl, type RelayRequest, type TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { stepOf } from './step-of.ts';

const CHAINS = [
  ['d1', 'd2', 'd3'],
  ['d4', 'd2'],
  ['d3', 'd4'],
];
const url = parseOriginUrl('http://origin.example/f');
if (!url.ok) throw url.error;
const asked = {
  origin: { from: 'origin', ticket: 't', url: url.value },
  successor: { from: 'successor', ticket: 't', path: '/f' },
} as const;
const behind = (depot: string) => ({ from: 'depot', ticket: 't', path: '/f', depot, port: 80 }) as const;

function roleOf(ownId: string, request: RelayRequest, chains = CHAINS): string {
  const step = stepOf({ chains } as unknown as TicketClaims, ownId, request);
  return step.ok ? (step.value?.role ?? 'entry') : step.error.code;
}

test('every depot of the plan has its part by its place, whatever the alternatives are', () => {
  const ids = ['d1', 'd2', 'd3', 'd4'];
  expect(ids.map((id) => roleOf(id, asked.origin))).toEqual(['entry', 'entry', 'exit', 'entry']);
  expect(ids.map((id) => roleOf(id, asked.successor))).toEqual([
    'ticket-wrong-depot',
    'giver',
    'giver',
    'ticket-wrong-depot',
  ]);
  expect(ids.map((id) => roleOf(id, behind('d3')))).toEqual([
    'parameters-disagree',
    'middle',
    'ticket-wrong-depot',
    'ticket-wrong-depot',
  ]);
  expect(roleOf('d1', behind('d2'))).toBe('entry');
});

test('a depot alone is the entry depot, and asks nobody', () => {
  expect(roleOf('d1', asked.origin, [['d1']])).toBe('entry');
  expect(roleOf('d1', behind('d2'), [['d1']])).toBe('ticket-wrong-depot');
  expect(roleOf('d1', asked.successor, [['d1']])).toBe('ticket-wrong-depot');
});
