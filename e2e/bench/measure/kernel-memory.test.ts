import { describe, expect, it } from 'vitest';
import { parseSocketMemory, parseSockstat } from './kernel-memory.ts';

describe('kernel memory of TCP', () => {
  it('is read from sockstat, in bytes', () => {
    const text = 'sockets: used 93\nTCP: inuse 5 orphan 0 tw 2 alloc 7 mem 300\nUDP: inuse 0 mem 9\n';
    expect(parseSockstat(text)).toBe(300 * 4096);
  });

  it('is refused when the kernel does not say it', () => {
    expect(() => parseSockstat('sockets: used 93\n')).toThrow('sockstat');
  });

  it("of a relay is that of its own sockets: neither the client's nor the source's", () => {
    const text = [
      'ESTAB 0 0 10.77.1.1:9010 10.77.1.1:40000',
      '\t skmem:(r1,rb131072,t0,tb87040,f20,w300,o0,bl0,d0)',
      'ESTAB 0 0 10.77.1.1:40001 10.77.1.1:9000 skmem:(r4000,rb131072,t0,tb87040,f0,w0,o0,bl0,d0)',
      'ESTAB 0 0 10.77.1.1:40000 10.77.1.1:9010 skmem:(r50000,rb131072,t0,tb87040,f0,w0,o0,bl0,d0)',
      'ESTAB 0 0 10.77.1.1:9000 10.77.1.1:40001 skmem:(r0,rb131072,t0,tb87040,f0,w600000,o0,bl0,d0)',
    ].join('\n');
    expect(parseSocketMemory(text, 9010, 9000)).toBe(4321);
  });
});
