import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { HEADERS, introductionPort } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestOverlay, type TestOverlay } from '../testing/overlay.ts';
import { testPlanes } from '../testing/test-planes.ts';

const file = randomBytes(2_000_000);
const tls = selfSigned();
/** A body that never ends. */
const endless = () =>
  new Readable({
    read() {
      this.push(file.subarray(0, 65_536));
    },
  });

const listeners = (await testPlanes()).flatMap(([plane, splice]) => [
  { scheme: 'http', plane, splice, material: undefined },
  { scheme: 'https', plane, splice, material: tls },
]);

describe.each(listeners)("a client's tunnel over $scheme, by $plane,", ({ scheme, splice, material }) => {
  let overlay: TestOverlay;
  let held: ServerResponse[];
  beforeEach(async () => {
    held = [];
    overlay = await startTestOverlay(
      ['d1', 'd2', 'd3'],
      (request, response) => {
        if (request.url === '/held') held.push(response);
        else if (request.url === '/endless') endless().pipe(response);
        else response.end(file);
      },
      splice,
      material ? { tls: material } : {},
    );
  });
  afterEach(() => overlay.close());

  const authority = () => overlay.originUrl.slice('http://'.length);
  const basic = (text: string) => `Basic ${Buffer.from(`ticket:${text}`).toString('base64')}`;
  const tunnelTicket = (claims: object = {}) =>
    overlay.ticket(`${overlay.originUrl}/file`, { kind: 'tunnel', ...claims });

  /** Dials a depot and asks for a tunnel; gives the connection and the answer's head. */
  async function ask(
    credential: string | undefined,
    { depot = 'd1', target = authority() } = {},
  ): Promise<{ socket: Socket; head: string }> {
    const { port } = new URL(overlay.depot(depot).url);
    const socket =
      scheme === 'https'
        ? connectTls({ host: '127.0.0.1', port: Number(port), ca: tls.cert })
        : connect({ host: '127.0.0.1', port: Number(port) });
    socket.on('error', () => {});
    const header = credential === undefined ? '' : `Proxy-Authorization: ${credential}\r\n`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${header}\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    return { socket, head: chunk.toString('latin1') };
  }

  /** Everything that comes back for a request through the tunnel, and whether it ended as it should. */
  async function download(socket: Socket, path = '/file'): Promise<{ bytes: number; broken: boolean }> {
    let bytes = 0;
    let broken = false;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.on('error', () => {
      broken = true;
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    return { bytes, broken };
  }

  const chainFailures = () => overlay.depot('d1').events.filter(({ type }) => type === 'chain-failed');

  test.each([
    ['Longhaul', (ticket: string) => `Longhaul ${ticket}`],
    ['Basic', basic],
  ])(
    'opens by a ticket under the scheme %s and carries bytes both ways, to their end',
    async (_, credential) => {
      const { socket, head } = await ask(credential(tunnelTicket()));
      expect(head).toMatch(/^HTTP\/1\.1 200 Connected\r\n/);
      const { bytes, broken } = await download(socket);
      expect(broken).toBe(false);
      expect(bytes).toBeGreaterThan(file.length);
      for (const [id, role] of [
        ['d1', 'entry'],
        ['d2', 'middle'],
        ['d3', 'exit'],
      ] as const)
        await expect
          .poll(() => overlay.depot(id).events.at(-1))
          .toMatchObject({ type: 'tunnel', role, outcome: 'complete' });
    },
  );

  test('takes the first chain that begins here', async () => {
    const chains = [
      ['d2', 'd3'],
      ['d1', 'd3'],
    ];
    const { socket } = await ask(basic(tunnelTicket({ chains })));
    expect((await download(socket)).bytes).toBeGreaterThan(file.length);
    await expect
      .poll(() => overlay.depot('d3').events.at(-1))
      .toMatchObject({ type: 'tunnel', role: 'exit', outcome: 'complete' });
    expect(chainFailures()).toEqual([]);
  });

  test('takes the next chain where one fails, and the depot alone in the end', async () => {
    const chains = [
      ['d1', 'gone', 'd3'],
      ['d2', 'd3'],
      ['d1', 'd2', 'lost'],
    ];
    const { socket } = await ask(basic(tunnelTicket({ chains })));
    expect((await download(socket)).bytes).toBeGreaterThan(file.length);
    expect(chainFailures()).toMatchObject([{ depot: 'gone' }, { depot: 'lost' }]);
    await expect
      .poll(() => overlay.depot('d1').events.at(-1))
      .toMatchObject({ type: 'tunnel', role: 'entry' });
    expect(overlay.depot('d3').events.some(({ type }) => type === 'tunnel')).toBe(false);
  });

  test('is one at a time for one download', async () => {
    const credential = basic(tunnelTicket());
    const first = await ask(credential);
    const second = await ask(credential);
    expect(second.head).toMatch(/^HTTP\/1\.1 503 .*longhaul-error: job-busy/s);
    expect((await ask(basic(tunnelTicket()))).head, 'another download').toMatch(/^HTTP\/1\.1 200 /);
    expect((await download(first.socket)).broken).toBe(false);
    await expect
      .poll(async () => {
        const { socket, head } = await ask(credential);
        socket.destroy();
        return head;
      })
      .toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is reset when its bytes are used up, and opens no more', async () => {
    const credential = basic(tunnelTicket({ budgetBytes: 500_000 }));
    const { socket } = await ask(credential);
    const { bytes, broken } = await download(socket, '/endless');
    expect(broken).toBe(true);
    expect(bytes).toBeGreaterThan(0);
    await expect
      .poll(() => overlay.depot('d1').events.find(({ type }) => type === 'refusal'))
      .toMatchObject({ code: 'budget-used-up' });
    expect((await ask(credential)).head).toMatch(/^HTTP\/1\.1 503 .*longhaul-error: budget-used-up/s);
  });

  test("is reset when its ticket's life is over", async () => {
    const now = overlay.nowSeconds();
    // The allowance for clocks is a minute.
    const times = { issuedAt: now - 100, lastStart: now - 59, endOfLife: now - 59 };
    const { socket, head } = await ask(basic(tunnelTicket(times)));
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect((await download(socket, '/held')).broken).toBe(true);
    await expect
      .poll(() => overlay.depot('d1').events.find(({ type }) => type === 'refusal'))
      .toMatchObject({ code: 'ticket-expired' });
  });

  test.each([
    ['none', undefined, 'ticket-missing'],
    ['one of a scheme that is not known', 'Digest x', 'ticket-missing'],
    ['one that is no ticket', basic('secret'), 'ticket-malformed'],
    ['one that is nothing', 'Basic', 'ticket-malformed'],
  ])('asks for a credential where there is %s', async (_, credential, code) => {
    const { head } = await ask(credential);
    expect(head).toMatch(/^HTTP\/1\.1 407 /);
    expect(head).toContain('Proxy-Authenticate: Basic realm="Longhaul ticket"\r\n');
    expect(head).toContain(`${HEADERS.error}: ${code}\r\n`);
    expect(overlay.originConnections()).toBe(0);
  });

  test('asks for another credential where the time of the one that came is over, whatever it is shown for', async () => {
    const now = overlay.nowSeconds();
    const notBegun = tunnelTicket({ issuedAt: now - 1000, lastStart: now - 100 });
    const over = tunnelTicket({ issuedAt: now - 1000, lastStart: now - 900, endOfLife: now - 100 });
    for (const [ticket, code] of [
      [notBegun, 'ticket-start-over'],
      [over, 'ticket-expired'],
    ] as const)
      for (const target of [authority(), '127.0.0.1:9']) {
        const { head } = await ask(basic(ticket), { target });
        expect(head).toMatch(/^HTTP\/1\.1 407 /);
        expect(head).toContain('Proxy-Authenticate: Basic realm="Longhaul ticket"\r\n');
        expect(head).toContain(`${HEADERS.error}: ${code}\r\n`);
      }
  });

  test('is known by its ticket before it is needed: another one is asked for that one, and it has begun then', async () => {
    const [before, wanted] = ['job-before', 'job-wanted'].map((jobId) => tunnelTicket({ jobId })) as [
      string,
      string,
    ];
    const target = `127.0.0.1:${introductionPort('job-wanted')}`;
    const askFor = async (credential: string) => (await ask(basic(credential), { target })).head;
    const forged = wanted.replace(/.{5}$/, 'AAAAA');
    const get = overlay.ticket(`${overlay.originUrl}/file`, { jobId: 'job-wanted' });
    for (const other of [before, forged, get]) {
      const head = await askFor(other);
      expect(head).toMatch(/^HTTP\/1\.1 407 .*longhaul-error: ticket-other-wanted\r/s);
      expect(head).toContain('Proxy-Authenticate: Basic realm="Longhaul ticket"\r\n');
    }
    expect(await askFor(wanted)).toMatch(/^HTTP\/1\.1 403 .*longhaul-error: ticket-wrong-authority\r/s);
    expect(overlay.originConnections()).toBe(0);
    overlay.advanceSeconds(1000);
    expect((await ask(basic(wanted))).head).toMatch(/^HTTP\/1\.1 200 /);
    expect((await ask(basic(before))).head).toMatch(/^HTTP\/1\.1 407 .*longhaul-error: ticket-start-over\r/s);
  });

  test('is forbidden by a ticket for something else', async () => {
    const forbidden = async (answer: Promise<{ head: string }>) => {
      const { head } = await answer;
      return [head.slice(9, 12), /longhaul-error: (.*)\r/.exec(head)?.[1]];
    };
    const get = overlay.ticket(`${overlay.originUrl}/file`);
    expect(await forbidden(ask(basic(get)))).toEqual(['403', 'ticket-wrong-kind']);
    expect(await forbidden(ask(basic(tunnelTicket()), { target: '127.0.0.1:9' }))).toEqual([
      '403',
      'ticket-wrong-authority',
    ]);
    expect(await forbidden(ask(basic(tunnelTicket()), { depot: 'd2' }))).toEqual([
      '403',
      'ticket-wrong-depot',
    ]);
    const forged = tunnelTicket().replace(/.{5}$/, 'AAAAA');
    expect(await forbidden(ask(basic(forged)))).toEqual(['403', 'ticket-signature-wrong']);
    expect(overlay.originConnections()).toBe(0);
  });

  test('names the failure, and the depot where it happened', async () => {
    const { head } = await ask(
      basic(overlay.ticket('http://127.0.0.1:9/x', { kind: 'tunnel', chains: [['d1', 'd3']] })),
      { target: '127.0.0.1:9' },
    );
    expect(chainFailures(), 'what the exit depot says').toMatchObject([
      { code: 'address-not-allowed', depot: 'd3' },
    ]);
    expect(head, 'what the entry depot found itself').toMatch(
      /^HTTP\/1\.1 403 .*longhaul-error: address-not-allowed\r\nlonghaul-depot: d1/s,
    );
    const { port } = new URL(overlay.originUrl);
    const dead = overlay.ticket(`http://127.0.0.2:${port}/x`, { kind: 'tunnel', chains: [['d1', 'd3']] });
    const answer = await ask(basic(dead), { target: `127.0.0.2:${port}` });
    expect(answer.head).toMatch(
      /^HTTP\/1\.1 502 .*longhaul-error: origin-unreachable\r\nlonghaul-depot: d3/s,
    );
  });
});
