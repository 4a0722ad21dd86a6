import { heartbeatRequestSchema } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openKernel } from './kernel/open-kernel.ts';
import { fetchRaw } from './testing/fetch-raw.ts';
import { startTestOverlay, type TestOverlay } from './testing/overlay.ts';
import { testPlanes } from './testing/test-planes.ts';

const { kernel } = openKernel();
const FILE = Buffer.alloc(1_000_000, 'f');
/** Of the client's leg: the kernel may have some of it yet to send when the depot has written all. */
const some = expect.toSatisfy((bytes: number) => bytes > 0) as unknown;
const atLeast = expect.toSatisfy((bytes: number) => bytes >= FILE.length) as unknown;

describe.skipIf(!kernel).each(await testPlanes())('with a relay of %s,', (_kind, plane) => {
  let overlay: TestOverlay;
  beforeEach(async () => {
    overlay = await startTestOverlay(
      ['d1', 'd2'],
      (_, response) => response.writeHead(200, { 'Content-Length': FILE.length }).end(FILE),
      plane,
    );
  });
  afterEach(() => overlay.close());

  test('an entry depot tells its master what the way to the network of its client is like', async () => {
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/whole.bin`));
    await expect.poll(() => overlay.depot('d1').events.map(({ type }) => type)).toContain('transfer');
    const { master } = overlay;
    const told = () => {
      // A heartbeat that is on its way may have been put together before.
      const material = { enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined };
      overlay.depot('d1').depot.renew(material);
      const beats = master.requests.filter(({ path }) => path === '/v1/depots/d1/heartbeat');
      return beats.flatMap(({ body }) => heartbeatRequestSchema.parse(body).clients ?? []);
    };
    const expected = { prefix: '127.0.0.0/24', rttMs: expect.any(Number), sentBytes: expect.any(Number) };
    // On a busy machine a heartbeat falls into the download, and tells of its beginning.
    await expect.poll(told).toContainEqual(expect.objectContaining(expected));
  });

  test('a depot tells its master how far clients are that only ask whether it is there', async () => {
    const { depot } = overlay.depot('d2');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${overlay.depot('d2').url}/healthz`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const { master } = overlay;
    const told = () => {
      depot.renew({ enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined });
      const beats = master.requests.filter(({ path }) => path === '/v1/depots/d2/heartbeat');
      return beats.flatMap(({ body }) => heartbeatRequestSchema.parse(body).clients ?? []);
    };
    await expect
      .poll(told)
      .toEqual([{ prefix: '127.0.0.0/24', rttMs: expect.any(Number), mostWindowBytes: expect.any(Number) }]);
  });

  test('every depot of a chain tells its master what came of a job, once', async () => {
    const claims = { jobId: 'the-job' };
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/whole.bin`, claims));
    const { master } = overlay;
    const told = async (id: string, type: string) => {
      await expect.poll(() => overlay.depot(id).events.map((event) => event.type)).toContain(type);
      const beats = () =>
        master.requests
          .filter(({ path }) => path === `/v1/depots/${id}/heartbeat`)
          .map(({ body }) => heartbeatRequestSchema.parse(body));
      const beat = async () => {
        const before = beats().length;
        const material = { enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined };
        overlay.depot(id).depot.renew(material);
        await expect.poll(() => beats().length).toBeGreaterThan(before);
      };
      // A heartbeat that is on its way may have been put together before, and shares the next one.
      await beat();
      await beat();
      await beat();
      return beats().flatMap(({ jobs = [] }) => jobs);
    };
    expect(await told('d1', 'transfer')).toMatchObject([
      {
        jobId: 'the-job',
        legs: [
          { peer: 'client', prefix: '127.0.0.0/24', sentBytes: some },
          { peer: 'd2', receivedBytes: expect.any(Number) as unknown },
        ],
        download: {
          requests: 1,
          bodyBytes: FILE.length,
          isWhole: true,
          outcome: 'complete',
          chain: ['d1', 'd2'],
        },
      },
    ]);
    const [behind, ...others] = await told('d2', 'tunnel');
    expect(others).toEqual([]);
    expect(behind).toMatchObject({
      jobId: 'the-job',
      legs: [{ peer: 'd1', sentBytes: atLeast }, { peer: 'origin' }],
    });
    expect(behind?.download).toBeUndefined();
    expect(behind?.legs.some((leg) => 'prefix' in leg)).toBe(false);
  });

  test('an exit depot tells its master what the origin showed', async () => {
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/whole.bin`));
    await expect.poll(() => overlay.depot('d2').events.map(({ type }) => type)).toContain('tunnel');
    const { master } = overlay;
    const told = () => {
      const material = { enrolmentSecret: master.secret, trustedAuthorities: [], tls: undefined };
      overlay.depot('d2').depot.renew(material);
      const beats = master.requests.filter(({ path }) => path === '/v1/depots/d2/heartbeat');
      return beats.flatMap(({ body }) => heartbeatRequestSchema.parse(body).origins ?? []);
    };
    const expected = { host: '127.0.0.1', prefix: '127.0.0.0/24', receivedBytes: expect.any(Number) };
    await expect.poll(told).toMatchObject([{ ...expected, rttMs: expect.any(Number) }]);
  });

  test('every depot of a chain tells of each leg of a download what the kernel saw', async () => {
    await fetchRaw(overlay.relayUrl(`${overlay.originUrl}/whole.bin`));
    const event = async (depot: string, type: string) => {
      const { events } = overlay.depot(depot);
      await expect.poll(() => events.filter((one) => one.type === type)).toHaveLength(1);
      return events.find((one) => one.type === type);
    };
    expect(await event('d1', 'transfer')).toMatchObject({
      legs: [
        { legClass: 'client', connections: 1, sentBytes: some, retransmittedBytes: expect.any(Number) },
        { legClass: 'depot', depot: 'd2', connections: 1, receivedBytes: expect.any(Number) },
      ],
    });
    expect(await event('d2', 'tunnel')).toMatchObject({
      legs: [
        { legClass: 'depot', depot: 'd1', connections: 1, sentBytes: atLeast },
        { legClass: 'origin', connections: 1, minRttMs: expect.any(Number) },
      ],
    });
  });
});
