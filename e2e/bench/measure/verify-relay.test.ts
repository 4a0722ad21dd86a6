import { expect, it } from 'vitest';
import { parseCongestionControls } from './verify-relay.ts';

it('every socket that sends by another congestion control is seen', () => {
  const said = [
    'ESTAB 0 0 10.77.1.1:9010 10.77.1.1:40000',
    '\t cubic wscale:10,10 rto:201 rtt:0.1/0.05 mss:65483 cwnd:10',
    'ESTAB 0 0 10.77.1.1:9000 10.77.1.1:40002 ts sack bbr wscale:7,7 rto:202 bbr:(bw:1bps,mrtt:0.1)',
    'ESTAB 0 0 10.77.1.1:9000 10.77.1.1:40004 ts sack reno rto:202 mss:1448',
  ].join('\n');
  expect([...parseCongestionControls(said)]).toEqual(['cubic', 'bbr', 'reno']);
});
