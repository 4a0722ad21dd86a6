import { createSocket } from 'node:dgram';

/**
 * What a name server says of a name: IPv4 addresses, `silent` for no answer at all, `undefined` where the
 * name is not.
 */
export type Zone = (name: string, asked: number) => readonly string[] | 'silent' | undefined;

const TYPE_A = 1;
const NAME_ERROR = 3;
/** A header of 12 bytes, then the question. */
const HEAD_BYTES = 12;

/** A name server of UDP for IPv4 addresses, whose answers hold for no time at all. */
export async function startNamesServer(host: string, port: number, zone: Zone): Promise<() => void> {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (packet, from) => {
    const question = readQuestion(packet);
    if (!question) return;
    const { name, type, end } = question;
    const known = zone(name, asked);
    asked += type === TYPE_A ? 1 : 0;
    if (known === 'silent') return;
    const addresses = type === TYPE_A ? (known ?? []) : [];
    socket.send(answer(packet.subarray(0, end), known !== undefined, addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(port, host, resolve));
  return () => socket.close();
}

function readQuestion(packet: Buffer): { name: string; type: number; end: number } | undefined {
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  if (at + 5 > packet.length) return undefined;
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

function answer(asked: Buffer, isKnown: boolean, addresses: readonly string[]): Buffer {
  const head = Buffer.from(asked);
  // An answer, recursion available; one question, nothing beside the answers.
  head.writeUInt16BE(0x8180 | (isKnown ? 0 : NAME_ERROR), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    // The question's name, type A, class IN, no time to live, four bytes.
    Buffer.from([0xc0, HEAD_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
