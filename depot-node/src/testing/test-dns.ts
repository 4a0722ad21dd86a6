import { createSocket } from 'node:dgram';

const TYPES = { A: 1, AAAA: 28 } as const;
const NAME_ERROR = 3;

/**
 * What the server says of a name: addresses of both families, or nothing at all. A family that is left out
 * has none.
 */
export interface TestName {
  readonly A?: readonly string[] | 'silent';
  readonly AAAA?: readonly string[] | 'silent';
  readonly ttlSeconds?: number;
  /** So much later than the other family the addresses of IPv4 are told. */
  readonly lateMs?: number;
}

export interface TestDns {
  /** As name servers are configured: `127.0.0.1:<port>`. */
  readonly server: string;
  /** Names that are not here do not exist. */
  names: Record<string, TestName>;
  /** Names that have been asked for, once for each question; repeated packets count as well. */
  readonly asked: string[];
  readonly close: () => Promise<void>;
}

/** A real DNS server on loopback, for addresses only. */
export async function startTestDns(names: Record<string, TestName> = {}): Promise<TestDns> {
  const socket = createSocket('udp4');
  const dns = {
    server: '',
    names,
    asked: [] as string[],
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    dns.asked.push(name);
    const known = Object.hasOwn(dns.names, name) ? dns.names[name] : undefined;
    const answers = type === TYPES.A ? known?.A : type === TYPES.AAAA ? known?.AAAA : [];
    if (answers === 'silent') return;
    const said = answer(question.subarray(0, end), known, type, answers ?? []);
    const tell = () => socket.send(said, from.port, from.address);
    if (type === TYPES.A && known?.lateMs !== undefined) setTimeout(tell, known.lateMs);
    else tell();
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  dns.server = `127.0.0.1:${socket.address().port}`;
  return dns;
}

function readQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

function answer(
  asked: Buffer,
  known: TestName | undefined,
  type: number,
  addresses: readonly string[],
): Buffer {
  const head = Buffer.from(asked);
  // An answer, recursion available; one question, nothing beside the answers.
  head.writeUInt16BE(0x8180 | (known ? 0 : NAME_ERROR), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = type === TYPES.A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
    const record = Buffer.alloc(12);
    // The name of the question.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(known?.ttlSeconds ?? 60, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

/** Of an address with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(before), groups(after)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
