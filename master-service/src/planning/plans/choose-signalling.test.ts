import { type OriginUrl, parseOriginUrl } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { chooseSignalling } from './choose-signalling.ts';

const HTTP = urlOf('http://origin.example/f');
const ASKED = { wanted: 'stepwise', kind: 'get', url: HTTP, chain: ['d1', 'd2', 'd3'] } as const;

function urlOf(text: string): OriginUrl {
  const url = parseOriginUrl(text);
  if (!url.ok) throw url.error;
  return url.value;
}

test('stepwise leads to the exit depot first, and says the way', () => {
  expect(chooseSignalling(ASKED)).toEqual({
    ticketKind: 'stepwise',
    firstDepot: 'd3',
    reasons: [expect.stringContaining('d3, then d2, then d1')],
  });
});

test.each([
  ['an https origin', { url: urlOf('https://origin.example/f') }, 'd1', 'for http origins'],
  ['a direct plan', { chain: [] }, undefined, 'needs depots'],
])('%s is led as always, and told why', (_, change, firstDepot, reason) => {
  const choice = chooseSignalling({ ...ASKED, ...change });
  expect(choice).toMatchObject({ ticketKind: 'get', firstDepot, reasons: [expect.stringContaining(reason)] });
});

test('who asks for nothing, or for a tunnel, is told nothing', () => {
  for (const change of [{ wanted: undefined }, { wanted: 'cascade' }] as const)
    expect(chooseSignalling({ ...ASKED, ...change })).toMatchObject({ ticketKind: 'get', reasons: [] });
  expect(chooseSignalling({ ...ASKED, kind: 'tunnel' })).toMatchObject({ ticketKind: 'tunnel', reasons: [] });
});
