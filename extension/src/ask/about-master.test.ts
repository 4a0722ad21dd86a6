import { expect, it } from 'vitest';
import { serve } from '../testing/serve.ts';
import { askAboutMaster } from './about-master.ts';

const soon = () => AbortSignal.timeout(5_000);

it('tells a master’s name, version, depots and its operator’s sentence', async () => {
  const depots = [{ state: 'up' }, { state: 'lost' }, null];
  const base = await serve((_request, response) =>
    response.end(JSON.stringify({ note: 'For the campus.', depots, version: '0.1.0' })),
  );
  expect(await askAboutMaster(base, soon())).toEqual({
    name: new URL(base).host,
    version: '0.1.0',
    note: 'For the campus.',
    depotsUp: 1,
    depots: 3,
  });
});

it('shows no more than a few lines of what anybody says of himself, and nothing of nonsense', async () => {
  let text = JSON.stringify({ note: 'x'.repeat(10_000), depots: [], version: 7 });
  const base = await serve((_request, response) => response.end(text));
  expect(await askAboutMaster(base, soon())).toMatchObject({ note: 'x'.repeat(300), version: '' });
  for (text of ['{', '[]', '{"depots":1}', 'null'])
    expect(await askAboutMaster(base, soon())).toBeUndefined();
});
