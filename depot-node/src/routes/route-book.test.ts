import type { Chain, TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { RouteBook } from './route-book.ts';

const ticketOf = (...chains: Chain[]): OpenTicket => ({
  text: chains.join(),
  claims: {
    chains,
    promises: chains.map(() => ({ rateBps: 1e8, worstRttMs: 20, worstLossRate: 0 })),
  } as unknown as TicketClaims,
});
const chainsOf = (book: RouteBook) => book.routes().map(({ chain }) => chain.join('-'));

test('the plan comes first, its alternatives next, this depot alone last; chains of other entries are not ours', () => {
  const book = new RouteBook('d1', ticketOf(['d1', 'd2', 'd3'], ['d9', 'd3'], ['d1', 'd4']));
  expect(chainsOf(book)).toEqual(['d1-d2-d3', 'd1-d4', 'd1']);
});

test('this depot alone comes first when it is the plan, and last again when that has failed', () => {
  const book = new RouteBook('d1', ticketOf(['d1'], ['d1', 'd2']));
  expect(chainsOf(book)).toEqual(['d1', 'd1-d2']);
  book.noteFailure(['d1']);
  expect(chainsOf(book)).toEqual(['d1-d2', 'd1']);
});

test('what failed comes after what did not', () => {
  const book = new RouteBook('d1', ticketOf(['d1', 'd2'], ['d1', 'd3']));
  book.noteFailure(['d1', 'd2']);
  expect(chainsOf(book)).toEqual(['d1-d3', 'd1', 'd1-d2']);
});

test('a depot that is known to have failed counts against all chains through it', () => {
  const book = new RouteBook('d1', ticketOf(['d1', 'd2', 'd3'], ['d1', 'd3'], ['d1', 'd4']));
  book.noteFailure(['d1', 'd2', 'd3'], 'd3');
  expect(chainsOf(book)).toEqual(['d1-d4', 'd1', 'd1-d3', 'd1-d2-d3']);
});

test('a new plan adds what is new in it, and avoids all that may have failed', () => {
  const book = new RouteBook('d1', ticketOf(['d1', 'd2', 'd3']));
  book.noteFailure(['d1', 'd2', 'd3']);
  expect(book.suspects().toSorted()).toEqual(['d2', 'd3']);
  book.add(ticketOf(['d1', 'd5'], ['d1', 'd2', 'd3']));
  expect(chainsOf(book)).toEqual(['d1-d5', 'd1', 'd1-d2-d3']);
});

test('a route that failed promises nothing any more', () => {
  const book = new RouteBook('d1', ticketOf(['d1', 'd2'], ['d1', 'd3']));
  expect(book.bestOtherBps(['d1', 'd2'])).toBe(1e8);
  book.noteFailure(['d1', 'd2']);
  expect(book.bestOtherBps(['d1', 'd3'])).toBe(0);
});
