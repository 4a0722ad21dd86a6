import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { requestPlan, requestStatus } from './master-api.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it.each([
  ['plan', () => requestPlan({ url: 'https://origin.example/file.iso' }), 'v1/plans'],
  ['status', () => requestStatus(), 'v1/status'],
] as const)(
  'waits for the %s of a master that stays silent only until its time is over',
  async (what, ask, path) => {
    const asked = Promise.withResolvers<string | undefined>();
    const server = createServer(({ url }) => asked.resolve(url));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { fetch } = globalThis;
    vi.stubGlobal('fetch', (to: string, init?: RequestInit) => fetch(new URL(to, page), init));
    const time = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
    const answer = ask();
    expect(await asked.promise).toBe(`/${path}`);
    time.abort(new DOMException('The time is over.', 'TimeoutError'));
    const silent = { kind: 'error', error: { code: 'master-unreachable', retry: true } };
    if (what === 'plan') expect(await answer).toMatchObject(silent);
    else expect(await answer).toBeUndefined();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  },
);
