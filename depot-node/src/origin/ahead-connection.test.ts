import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LonghaulError } from '@longhaul/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AheadConnection } from './ahead-connection.ts';

let server: Server;
let port = 0;
/** What the origin has been asked, and its socket. */
let asked: string[];
let peer: Socket;
let onAsked: () => void;
let notes: boolean[];
let breaks: number;

beforeAll(async () => {
  server = createServer((socket) => {
    peer = socket;
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const whole = text.split('\r\n\r\n');
      text = whole.pop() ?? '';
      for (const head of whole) {
        asked.push(head);
        onAsked();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked = [];
  notes = [];
  breaks = 0;
  onAsked = () => {};
});

const answer = (body: string, more = '') =>
  `HTTP/1.1 206 Partial Content\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

function open(isFit = false) {
  const connection = new AheadConnection(
    async (firstBytes) => {
      const stream = connect({ host: '127.0.0.1', port });
      await once(stream, 'connect');
      stream.write(firstBytes);
      return stream;
    },
    {
      isFit: () => isFit,
      noteFit: () => notes.push(true),
      noteUnfit: () => notes.push(false),
      noteBreak: () => {
        breaks += 1;
      },
    },
  );
  /** Asks, reads the answer, and gives its body or why there is none. */
  const get = async (name: string, answerMs = 5000) => {
    const request = { method: 'GET' as const, target: `/${name}`, headers: { host: 'origin.test' } };
    let body = '';
    try {
      const head = await connection.ask(request, { answerMs });
      const onChunk = (chunk: Buffer) => {
        body += chunk.toString('latin1');
      };
      const sizeBytes = Number(head.headers['content-length']);
      return { end: await connection.read({ sizeBytes, silenceMs: answerMs, onChunk }), body };
    } catch (failure) {
      return failure instanceof LonghaulError ? failure.code : failure;
    }
  };
  return { connection, get };
}

describe('a connection that is asked ahead', () => {
  test('sends what is asked without waiting for answers, and gives these in order however they are cut', async () => {
    onAsked = () => {
      if (asked.length === 1) peer.write(answer('aa'));
      if (asked.length < 4) return;
      const bytes = answer('bbb') + answer('c') + answer('dddd');
      for (let at = 0; at < bytes.length; at += 1) setImmediate(() => peer.write(bytes.charAt(at)));
    };
    const { connection, get } = open();
    expect(await get('a')).toMatchObject({ end: 'complete' });
    expect(connection.isOpen).toBe(true);
    const all = await Promise.all(['b', 'c', 'd'].map((name) => get(name)));
    expect(all.map((one) => (one as { end: string }).end)).toEqual(['complete', 'complete', 'complete']);
    expect(asked.map((head) => head.split(' ')[1])).toEqual(['/a', '/b', '/c', '/d']);
    expect(notes).toContain(true);
    expect(notes).not.toContain(false);
    connection.close();
  });

  test('asks nothing ahead before the origin has shown that it answers', async () => {
    const { connection, get } = open();
    const first = get('a');
    expect(connection.isOpen).toBe(false);
    await expect.poll(() => asked.length).toBe(1);
    peer.write(answer('aa').slice(0, -1));
    await expect.poll(() => connection.isOpen).toBe(true);
    peer.write('a');
    await first;
    connection.close();
  });

  test('gives back what is unanswered when the origin ends the connection between two answers', async () => {
    const { connection, get } = open();
    onAsked = () => {
      if (asked.length === 1) peer.write(answer('aa'));
      if (asked.length === 3) peer.end(answer('bb'));
    };
    await get('a');
    const [b, c] = await Promise.all([get('b'), get('c')]);
    expect(b).toMatchObject({ end: 'complete' });
    expect(c).toBe('origin-unreachable');
    expect(breaks).toBe(0);
    expect(connection.gaveBack).toBe(true);
    // It was alone when it was asked; nothing is known of the second one.
    expect(notes).toEqual([false]);
  });

  test('takes an end that comes after answers to what was asked ahead for no inability', async () => {
    const { connection, get } = open();
    onAsked = () => {
      if (asked.length === 1) peer.write(answer('aa').slice(0, -1));
      if (asked.length === 2) peer.write(`a${answer('bb')}`);
      if (asked.length === 3) peer.end();
    };
    const first = get('a');
    await expect.poll(() => connection.isOpen).toBe(true);
    await Promise.all([first, get('b')]);
    expect(await get('c')).toBe('origin-unreachable');
    expect(connection.gaveBack).toBe(true);
    expect(notes).toEqual([true]);
  });

  test('blames the way, not the origin, for a break within an answer to what was asked ahead', async () => {
    const { connection, get } = open();
    onAsked = () => {
      if (asked.length === 1) peer.write(answer('aa').slice(0, -1));
      if (asked.length === 2) peer.write(`a${answer('bb').slice(0, -1)}`, () => peer.resetAndDestroy());
    };
    const first = get('a');
    await expect.poll(() => connection.isOpen).toBe(true);
    const [, b] = await Promise.all([first, get('b')]);
    expect(b).toMatchObject({ end: 'source-broke' });
    expect(connection.gaveBack).toBe(false);
    expect(notes).toEqual([]);
    expect(breaks).toBe(0);
  });

  test('tells of a break within an answer while further questions wait, but not of one between answers', async () => {
    const { connection, get } = open();
    onAsked = () => {
      if (asked.length === 1) peer.write(answer('aa').slice(0, -1));
      if (asked.length === 3) peer.write(`a${answer('bb').slice(0, -1)}`, () => peer.resetAndDestroy());
    };
    const first = get('a');
    await expect.poll(() => connection.isOpen).toBe(true);
    const [, b, c] = await Promise.all([first, get('b'), get('c')]);
    expect(b).toMatchObject({ end: 'source-broke' });
    expect(c).toBe('origin-unreachable');
    expect([notes, breaks]).toEqual([[], 1]);
  });

  test('never reads more than an answer has, nor takes bytes that nobody asked for', async () => {
    const { connection, get } = open();
    onAsked = () => peer.write(`${answer('aa')}HTTP/1.1 206 Partial Content\r\n`);
    expect(await get('a')).toMatchObject({ end: 'complete' });
    await expect.poll(() => connection.isOpen).toBe(false);
    expect(await get('b')).toBe('origin-unreachable');
  });

  test('that is told by the origin that it rests for too long ends as between two answers', async () => {
    const { connection, get } = open();
    const closes = 'Content-Length: 0\r\nConnection: close\r\n\r\n';
    onAsked = () => peer.end(`${answer('aa')}HTTP/1.1 408 Request Timeout\r\n${closes}`);
    expect(await get('a')).toMatchObject({ end: 'complete' });
    await expect.poll(() => connection.isOpen).toBe(false);
    expect(notes).toEqual([]);
  });

  test('bounds interim answers', async () => {
    const { get } = open();
    onAsked = () => peer.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(30) + answer('aa'));
    expect(await get('a')).toBe('origin-bad-answer');
  });

  test('takes silence for a break, but not while it rests', async () => {
    const { connection, get } = open();
    onAsked = () => peer.write(answer('aa').slice(0, -1));
    const { get: getOther } = open();
    const rests = get('a', 100);
    await expect.poll(() => connection.isOpen).toBe(true);
    connection.pause();
    const rested = peer;
    expect(await getOther('b', 150)).toMatchObject({ end: 'source-silent' });
    rested.write('a');
    connection.resume();
    expect(await rests).toMatchObject({ end: 'complete' });
    connection.close();
  });
});
