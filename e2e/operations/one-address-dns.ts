/** `node one-address-dns.ts <IPv4 address>`: name server at 127.0.0.1:53 for whom every name has this one address. */
import { createSocket } from 'node:dgram';

const HEAD_BYTES = 12;
const TYPE_A = 1;

const address = (process.argv[2] ?? '').split('.').map(Number);
const server = createSocket('udp4');
server.on('message', (query, from) => server.send(answerTo(query), from.port, from.address));
server.bind(53, '127.0.0.1', () => process.stdout.write('ready\n'));

/** RFC 1035, 4.1: the question again and, where it asks for an IPv4 address, one record of that name. */
function answerTo(query: Buffer): Buffer {
  const questionEnd = query.indexOf(0, HEAD_BYTES) + 5;
  const records = query.readUInt16BE(questionEnd - 4) === TYPE_A ? 1 : 0;
  const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, records, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, HEAD_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
  return Buffer.concat([head, query.subarray(HEAD_BYTES, questionEnd), ...(records === 1 ? [record] : [])]);
}
