import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeadReader, requestsOf } from './sink-dialogue.ts';
import type { FlowOrder } from './traffic-order.ts';

const order: FlowOrder = {
  host: '10.77.1.1',
  port: 9010,
  way: { kind: 'get' },
  authority: '10.77.1.1:9000',
  flows: 1,
  bodyBytes: 500,
};

describe('what the sink asks', () => {
  it('of a reverse proxy: the path', () => {
    expect(requestsOf(order)).toEqual(['GET /500 HTTP/1.1\r\nHost: 10.77.1.1:9000\r\n\r\n']);
  });

  it('of a forward proxy: the whole URL', () => {
    const [only] = requestsOf({ ...order, way: { kind: 'proxy' }, firstBytes: 10 });
    expect(only).toMatch(/^GET http:\/\/10\.77\.1\.1:9000\/500\?first=10 HTTP/);
  });

  it('of a depot: a tunnel with a ticket, then the path', () => {
    const [connect, get] = requestsOf({ ...order, way: { kind: 'connect', authorization: 'Longhaul t' } });
    expect(connect).toMatch(
      /^CONNECT 10\.77\.1\.1:9000 HTTP\/1\.1\r\n[^]*\r\nProxy-Authorization: Longhaul t\r\n\r\n$/,
    );
    expect(get).toMatch(/^GET \/500 /);
  });
});

describe('the head of an answer', () => {
  it('ends where it ends, however the bytes are cut; what follows is the body, untouched', () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n';
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(100), { maxLength: 6 }), (body, cuts) => {
        const all = Buffer.concat([Buffer.from(head), body]);
        const reader = new HeadReader();
        const places = [...cuts.filter((cut) => cut < all.length), 0, all.length].toSorted((a, b) => a - b);
        const after: Buffer[] = [];
        let isOver = false;
        for (const [at, from] of places.entries()) {
          const piece = all.subarray(from, places[at + 1] ?? all.length);
          const rest = isOver ? piece : reader.take(piece);
          if (rest === undefined) continue;
          isOver = true;
          after.push(rest);
        }
        expect(Buffer.concat(after)).toEqual(Buffer.from(body));
      }),
    );
  });

  it('that is no 200 fails with what it says', () => {
    const refused = Buffer.from('HTTP/1.1 403 Forbidden\r\nLonghaul-Error: ticket-expired\r\n\r\n');
    expect(() => new HeadReader().take(refused)).toThrow('ticket-expired');
  });

  it('that never ends fails', () => {
    const reader = new HeadReader();
    const filler = Buffer.alloc(10_000, 'x');
    reader.take(filler);
    expect(() => reader.take(filler)).toThrow('does not end');
  });
});
