import { expect, test } from 'vitest';
import { selfSigned } from '../tls/self-signed.ts';
import { createReload, type Generation } from './reload.ts';

const [first, second] = [selfSigned(), selfSigned()];

/** What a service with these certificates takes, and says, when it reads others. */
function reloadOf(started: Generation['material'], read: Generation['material']) {
  const said: string[] = [];
  const say = (_: object, message: string) => void said.push(message);
  const configOf = ({ tls, group }: Generation['material']) => ({ tls: tls && {}, group: group && {} });
  let taken: Generation['material'] | undefined;
  createReload<Generation>({
    started: { config: configOf(started), material: started },
    read: () => ({ config: configOf(read), material: read }),
    take: ({ material }) => {
      taken = material;
      return [];
    },
    nowMs: Date.now,
    log: { info: say, warn: say, error: say },
  })();
  return { taken, said };
}

test('a reload takes what has replaced a certificate', () => {
  const { taken, said } = reloadOf({ tls: first, group: first }, { tls: second, group: first });
  expect(taken).toEqual({ tls: second, group: first });
  expect(said).toEqual(['reloaded: tls']);
});

test.each([
  ['added', { tls: first, group: undefined }, { tls: first, group: second }],
  ['left out', { tls: first, group: second }, { tls: first, group: undefined }],
])('a certificate that was %s waits for a restart, whatever its key', (_, started, read) => {
  const { taken, said } = reloadOf(started, read);
  expect(taken).toEqual(started);
  expect(said).toEqual(['reloaded: nothing, it is as it was; needs a restart: group']);
});
