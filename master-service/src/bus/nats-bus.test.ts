import type { Socket } from 'node:net';
import { ERRORS, type ErrorCode } from '@longhaul/shared';
import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testBus } from '../testing/bus-promises.ts';
import { type PretendedServer, pretendNatsServer } from '../testing/pretend-nats-server.ts';
import { hasNatsServer, startNatsServer, type TestNatsServer } from '../testing/start-nats-server.ts';
import { NatsBus } from './nats-bus.ts';
import { MOST_TEXT_CHARS } from './state-bus.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

interface Told {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
}

/** A master on the bus that writes down what it hears, and what goes wrong. */
function join(site: string, servers: readonly string[]) {
  const heard: string[] = [];
  const failed: Told[] = [];
  let connections = 0;
  let reached = 0;
  const bus = new NatsBus({
    site,
    access: { servers },
    onConnected: () => {
      connections += 1;
    },
    onFailed: (code, detail) => failed.push({ code, detail }),
  });
  open.push(() => bus.close());
  bus.subscribe((text, from) => heard.push(`${from}: ${text}`));
  bus.onReached(() => {
    reached += 1;
  });
  bus.start();
  const codes = () => new Set(failed.map(({ code }) => code));
  return { bus, heard, failed, codes, connections: () => connections, reached: () => reached };
}

/** The same, when the server has taken all that it asks for. */
async function joined(site: string, servers: readonly string[]) {
  const master = join(site, servers);
  await expect.poll(() => master.bus.status().isConnected, { timeout: 10_000 }).toBe(true);
  return master;
}

async function serve(init: Parameters<typeof startNatsServer>[0] = {}): Promise<TestNatsServer> {
  const server = await startNatsServer(init);
  open.push(() => server.close());
  return server;
}

async function pretend(greet: (socket: Socket) => void): Promise<PretendedServer> {
  const server = await pretendNatsServer(greet);
  open.push(server.close);
  return server;
}

describe.skipIf(!hasNatsServer)('over NATS', () => {
  testBus('over NATS', async () => {
    const server = await startNatsServer();
    const buses: NatsBus[] = [];
    return {
      join: async (name) => {
        const { bus } = await joined(name, [server.url]);
        buses.push(bus);
        return bus;
      },
      // Whoever answers it, or nobody: the server has taken what was said before.
      settled: (bus) => bus.request('are you there?', () => {}),
      close: async () => {
        for (const bus of buses) await bus.close();
        await server.close();
      },
    };
  });

  test('a server that starts later, or again, is found without anybody doing something', async () => {
    const server = await serve();
    await server.kill();
    const [one, two] = [join('one', [server.url]), join('two', [server.url])];
    one.bus.publish('to nobody');
    expect(await one.bus.request('anybody?', () => {})).toMatchObject({ error: { code: 'bus-no-answer' } });
    await expect.poll(one.codes, { timeout: 10_000 }).toEqual(new Set(['bus-unreachable']));
    expect(one.failed[0]?.detail).toContain('refused');
    for (let times = 1; times <= 2; times += 1) {
      await server.start();
      await expect.poll(() => [one.reached(), two.reached()], { timeout: 10_000 }).toEqual([times, times]);
      await expect
        .poll(() => {
          one.bus.publish(`hello ${times}`);
          return two.heard;
        })
        .toContain(`one: hello ${times}`);
      await server.kill();
      await expect.poll(() => one.bus.status().isConnected).toBe(false);
    }
    expect(two.heard).not.toContain('one: to nobody');
  });

  test('a master goes to the next server when its own dies', async () => {
    const [first, second] = [await serve(), await serve()];
    const one = await joined('one', [first.url, second.url]);
    const two = await joined('two', [second.url]);
    await first.kill();
    await expect.poll(one.connections, { timeout: 10_000 }).toBe(2);
    one.bus.publish('here I am');
    await expect.poll(() => two.heard).toEqual(['one: here I am']);
  });

  test('a server that stands still is given no more than some megabytes, and left', async () => {
    const server = await serve();
    const one = await joined('one', [server.url]);
    server.freeze();
    const text = 'x'.repeat(MOST_TEXT_CHARS);
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 400; index += 1) one.bus.publish(text);
    expect(one.codes()).toEqual(new Set(['bus-overfull']));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64e6);
    await expect.poll(() => one.bus.status().isConnected, { timeout: 15_000 }).toBe(false);
    server.goOn();
    await expect.poll(one.connections, { timeout: 10_000 }).toBe(2);
  });

  test('a master that is too slow for what the others tell loses some of it and hears the newest again', async () => {
    const server = await serve({ config: 'max_pending: 4MB\nwrite_deadline: "100ms"' });
    const one = await joined('one', [server.url]);
    const slow = await joined('two', [server.url]);
    const text = 'x'.repeat(MOST_TEXT_CHARS);
    const isDropped = () => /Slow Consumer/i.test(server.log);
    await expect
      .poll(
        async () => {
          for (let index = 0; index < 20; index += 1) one.bus.publish(text);
          // Whoever does nothing but this reads nothing.
          await new Promise((resolve) => setImmediate(resolve));
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
          return isDropped();
        },
        { timeout: 15_000, interval: 1 },
      )
      .toBe(true);
    await expect.poll(() => slow.connections() + one.connections(), { timeout: 10_000 }).toBeGreaterThan(2);
    await expect
      .poll(
        () => {
          one.bus.publish('newest');
          return slow.heard.includes('one: newest');
        },
        { timeout: 10_000 },
      )
      .toBe(true);
  });

  test('a server that takes only short texts says so to the operator', async () => {
    const server = await serve({ config: 'max_payload: 1KB' });
    const one = await joined('one', [server.url]);
    expect(one.failed).toContainEqual({
      code: 'bus-refused',
      detail: expect.stringContaining('max_payload'),
    });
    one.bus.publish('x'.repeat(2000));
    expect(one.failed.filter(({ code }) => code === 'bus-refused')).toHaveLength(2);
    expect(one.bus.status().isConnected).toBe(true);
  });

  test('a server that lets a master neither tell nor hear says so to the operator, and harms nothing', async () => {
    const permissions = '{ publish: { deny: ">" }, subscribe: { deny: "longhaul.>" } }';
    const server = await serve({
      config: `authorization { users: [{ user: a, password: b, permissions: ${permissions} }] }\nno_auth_user: a`,
    });
    const one = await joined('one', [server.url]);
    one.bus.publish('text');
    await expect.poll(() => one.failed.filter(({ code }) => code === 'bus-refused').length).toBe(3);
    expect(await one.bus.request('anybody?', () => {})).toMatchObject({ error: { code: 'bus-no-answer' } });
    expect(one.bus.status().isConnected).toBe(true);
  });

  test('what no master can have sent is refused, and harms nothing', async () => {
    const server = await serve();
    const one = await joined('one', [server.url]);
    const stranger = await connect({ servers: server.url });
    open.push(() => stranger.close());
    stranger.publish('longhaul.two.told', Uint8Array.of(0xff, 0xfe));
    stranger.publish('longhaul.a$b.told', 'text');
    stranger.publish('longhaul.two.told', 'x'.repeat(900_000));
    stranger.publish('longhaul.two.answer.one.nobody-asked.0', 'text');
    stranger.publish('longhaul.two.answer.one', 'text');
    stranger.publish('longhaul.two.told', 'the last');
    await expect.poll(() => one.heard).toEqual(['two: the last']);
    expect(one.failed.map(({ code }) => code)).toEqual(['bus-malformed', 'bus-malformed', 'bus-malformed']);
  });

  test('an answer of which a part is missing, of two masters, or without end counts as none', async () => {
    const server = await serve();
    const one = await joined('one', [server.url]);
    const stranger = await connect({ servers: server.url });
    open.push(() => stranger.close());
    const answers: Record<string, (id: string) => void> = {
      gap: (id) => {
        stranger.publish(`longhaul.two.answer.one.${id}.0`, 'first');
        stranger.publish(`longhaul.two.answer.one.${id}.2`, 'third');
      },
      short: (id) => {
        stranger.publish(`longhaul.two.answer.one.${id}.0`, 'first');
        stranger.publish(`longhaul.two.answer.one.${id}.end`, '2');
      },
      mixed: (id) => {
        stranger.publish(`longhaul.two.answer.one.${id}.0`, 'first');
        stranger.publish(`longhaul.three.answer.one.${id}.1`, 'of three');
        stranger.publish(`longhaul.two.answer.one.${id}.1`, 'second');
        stranger.publish(`longhaul.two.answer.one.${id}.end`, '2');
      },
      endless: (id) => stranger.publish(`longhaul.two.answer.one.${id}.0`, 'first'),
    };
    stranger.subscribe('longhaul.one.ask.*', {
      callback: (_error, message) => answers[message.string()]?.(message.subject.split('.')[3] ?? ''),
    });
    await stranger.flush();
    const ask = async (how: string) => {
      const parts: string[] = [];
      const { ok } = await one.bus.request(how, (part, from) => parts.push(`${from}: ${part}`));
      return { ok, parts };
    };
    expect(await ask('gap')).toEqual({ ok: false, parts: ['two: first'] });
    expect(await ask('short')).toEqual({ ok: false, parts: ['two: first'] });
    expect(await ask('mixed')).toEqual({ ok: true, parts: ['two: first', 'two: second'] });
    expect(await ask('endless')).toEqual({ ok: false, parts: ['two: first'] });
  });

  test('who asks too often is answered some times at once, and the others are not kept from it', async () => {
    const server = await serve();
    const one = await joined('one', [server.url]);
    const stranger = await connect({ servers: server.url });
    open.push(() => stranger.close());
    const overfull = () => one.failed.filter(({ code }) => code === 'bus-overfull').length;
    let begun = 0;
    one.bus.answer(function* () {
      begun += 1;
      // None ends before all have asked, however long the server takes for them.
      while (overfull() < 92) yield 'x'.repeat(MOST_TEXT_CHARS);
    });
    await expect
      .poll(() => one.bus.request('is my subscription there?', () => {}))
      .toMatchObject({ ok: false });
    for (let index = 0; index < 100; index += 1) stranger.publish(`longhaul.two.ask.${index}`, 'all');
    await expect.poll(overfull).toBe(92);
    expect(begun).toBe(8);
  });
});

/** A NATS server of one client that writes down what that asks, and brings it what a test says. */
async function serveByHand() {
  let client: Socket | undefined;
  let said = '';
  const { url } = await pretend((socket) => {
    client = socket;
    socket.write(
      'INFO {"server_id":"x","version":"2.12.0","max_payload":1048576,"headers":true,"proto":1}\r\n',
    );
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      for (const _ of text.matchAll(/^PING\r$/gm)) socket.write('PONG\r\n');
    });
  });
  const bring = (subject: string, text: string) => {
    const [, sid = ''] = /SUB longhaul\.\*\.answer\.one\.> (\S+)/.exec(said) ?? [];
    client?.write(`MSG ${subject} ${sid} ${text.length}\r\n${text}\r\n`);
  };
  return { url, bring, asked: () => /PUB longhaul\.one\.ask\.(\S+)/.exec(said)?.[1] };
}

test('an answer that came while this process stood still is an answer in time', async ({
  onTestFinished,
}) => {
  const server = await serveByHand();
  const one = await joined('one', [server.url]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const parts: string[] = [];
  const outcome = one.bus.request('all', (part) => parts.push(part));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (; server.asked() === undefined; await turn()) vi.advanceTimersByTime(1);
  const subject = `longhaul.two.answer.one.${server.asked()}`;
  server.bring(`${subject}.0`, 'first');
  server.bring(`${subject}.1`, 'second');
  // It stands still until the kernel has that, and its timers come before it reads.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  vi.advanceTimersByTime(2_000);
  while (parts.length < 2) await turn();
  server.bring(`${subject}.end`, '2');
  expect(await outcome).toMatchObject({ ok: true });
  const nobody = one.bus.request('all', () => {});
  vi.advanceTimersByTime(2_000);
  expect(await nobody).toMatchObject({ error: { code: 'bus-no-answer' } });
});

describe('what is no NATS server', () => {
  const INFO = 'INFO {"server_id":"x","version":"2.12.0","max_payload":1048576,"headers":true,"proto":1}\r\n';

  test.each([
    ['says nothing', () => {}],
    ['speaks of something else', (socket: Socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
    ['greets in no JSON', (socket: Socket) => socket.write('INFO {broken\r\n')],
    ['lets nobody in', (socket: Socket) => socket.end(`${INFO}-ERR 'Authorization Violation'\r\n`)],
    ['hangs up', (socket: Socket) => socket.destroy()],
  ])('%s, is tried again and again, and holds up nobody', async (_what, greet) => {
    let times = 0;
    const { url, sockets } = await pretend((socket) => {
      times += 1;
      greet(socket);
    });
    const one = join('one', [url]);
    await expect.poll(() => times, { timeout: 15_000 }).toBeGreaterThan(1);
    expect(sockets.size).toBeLessThanOrEqual(2);
    expect(one.bus.status().isConnected).toBe(false);
    one.bus.publish('text');
    expect(await one.bus.request('anybody?', () => {})).toMatchObject({ error: { code: 'bus-no-answer' } });
    expect([...one.codes()].every((code) => code in ERRORS)).toBe(true);
  });

  test('begins well and then speaks nonsense, is left', async () => {
    const { url } = await pretend((socket) => {
      socket.write(INFO);
      socket.once('data', () => {
        socket.write('PONG\r\n');
        socket.on('data', () => socket.write('MSG nonsense \0 with no end\r\n\r\n-----'));
      });
    });
    const one = await joined('one', [url]);
    one.bus.publish('text');
    await expect.poll(one.connections, { timeout: 15_000 }).toBeGreaterThan(1);
    expect(one.codes()).toContain('bus-unreachable');
  });
});
