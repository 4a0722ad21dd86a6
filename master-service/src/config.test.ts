import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMasterConfig } from './config.ts';

const least = { listen: { host: '127.0.0.1', port: 0 }, stateDir: 'state', origins: ['origin.example'] };

function mistakesOf(input: unknown): string[] {
  try {
    readMasterConfig(input);
    return [];
  } catch (error) {
    return [...String(error).matchAll(/\n {2}- ([^:]*): /g)].map((match) => match[1] ?? '');
  }
}

describe('a configuration', () => {
  test('needs only where to listen, where to keep state, and whom to serve', () => {
    expect(readMasterConfig(least)).toMatchObject({
      public: false,
      planner: { maxDepots: 3, minimumGain: 1.1, maxAlternatives: 3, maxLanes: 8, allowVia: false },
      tickets: { startSeconds: 600, lifeSeconds: 604_800, budgetFactor: 4 },
      depots: { heartbeatSeconds: 5 },
      addresses: { ports: [80, 443], allow: [], overlayNetworks: [] },
      metricsNetworks: ['127.0.0.0/8', '::1/128'],
    });
  });

  test.each([
    ['https://Get.Example:443/', 'https://get.example'],
    ['https://get.example.:8443', 'https://get.example:8443'],
    ['http://[2001:DB8::1]:80', 'http://[2001:db8::1]'],
    ['http://get.example:0', 'http://get.example:0'],
    ['https://get.example/Base//', 'https://get.example/Base'],
  ])('may write the public address as %s: add-ons compare it as %s', (publicUrl, canonical) => {
    expect(readMasterConfig({ ...least, publicUrl }).publicUrl).toBe(canonical);
  });

  test.each(['https://u:p@get.example', 'https://get.example/?x', 'https://get.example/#x'])(
    'is refused with %s as its public address',
    (publicUrl) => {
      expect(mistakesOf({ ...least, publicUrl })).toEqual(['publicUrl']);
    },
  );

  test('with mistakes is refused with all of them, each with its key', () => {
    const mistakes = mistakesOf({
      listen: { host: 'nowhere', port: 70_000 },
      publicUrl: 'ftp://x',
      clients: ['10.0.0.0/99'],
      origins: ['ok.example', 'no/host'],
      public: { plansPerMinute: 0, bytesPerHour: 1 },
      planner: { maxDepots: 9, minimumGain: 0.5, maxAlternatives: 5, maxLanes: 9, minLaneBytes: 0 },
      tickets: { startSeconds: 10, lifeSeconds: 5 },
      depots: { heartbeatSecond: 5 },
      links: [
        { between: ['a', 'a'], rttMs: -1, rateBps: 0 },
        { between: ['client', 'd1'], rttMs: 1, rateBps: 1 },
      ],
      prefixes: { site: 'r j', coverageFile: '', asTable: 'x' },
      zap: true,
    });
    expect(mistakes).toEqual(
      expect.arrayContaining([
        'listen.host',
        'listen.port',
        'publicUrl',
        'stateDir',
        'clients.0',
        'origins.1',
        'public.plansPerMinute',
        'planner.maxDepots',
        'planner.minimumGain',
        'planner.maxAlternatives',
        'planner.maxLanes',
        'planner.minLaneBytes',
        'tickets.lifeSeconds',
        'depots.heartbeatSecond',
        'links.0.between',
        'links.0.rttMs',
        'links.0.rateBps',
        'prefixes.site',
        'prefixes.coverageFile',
        'prefixes.asTable',
        'zap',
      ]),
    );
  });

  test('whose keys contradict each other is refused for that, too, beside a value that is wrong in itself', () => {
    const group = { host: 'get.example', depots: ['d1'] };
    const link = { between: ['d1', 'd2'], rttMs: 1, rateBps: 1 };
    expect(
      mistakesOf({
        ...least,
        planner: { assumptions: { depotSender: 'vegas' } },
        tickets: { startSeconds: 10, lifeSeconds: 5, budgetFactor: 'x' },
        links: [null, { ...link, rttMs: 'x' }, link, { ...link, between: 'd1-d2' }],
        entryGroups: [{ ...group, id: 'g1', port: 'x' }, { ...group, id: 'g2' }, null],
        bus: { site: 'rj', servers: ['nats://127.0.0.1'], trustedCaFiles: 7 },
        prefixes: { site: 'pe', coverageFile: '' },
      }).toSorted(),
    ).toEqual([
      // The site cannot be compared: both tables have mistakes.
      'bus.trustedCaFiles',
      'entryGroups',
      'entryGroups.0.port',
      'entryGroups.2',
      'links.0',
      'links.1.rttMs',
      'links.2.between',
      'links.3.between',
      'planner.assumptions.depotSender',
      'prefixes.coverageFile',
      'tickets.budgetFactor',
      'tickets.lifeSeconds',
    ]);
    const bus = { site: 'rj', servers: ['nats://127.0.0.1'] };
    const planner = { assumptions: { depotSender: 'vegas' } };
    expect(mistakesOf({ ...least, bus, prefixes: { site: 'pe' }, planner })).toEqual([
      'planner.assumptions.depotSender',
      'bus.site',
    ]);
    expect(mistakesOf({ ...least, bus: { ...bus, servers: ['nats://10.0.0.1'], site: 'R' } })).toEqual([
      'bus.site',
      'bus.tls',
    ]);
  });

  test('that names a link twice, in either direction, is refused', () => {
    const links = [
      { between: ['d1', 'origin'], rttMs: 1, rateBps: 1 },
      { between: ['origin', 'd1'], rttMs: 2, rateBps: 2 },
    ];
    expect(mistakesOf({ ...least, links })).toEqual(['links.1.between']);
  });

  test.each([
    ['says nothing of it', {}],
    ['lists nobody', { origins: [], clients: [], public: false }],
  ])('that serves nobody is refused: it %s', (_, who) => {
    const { origins: _origins, ...rest } = least;
    expect(mistakesOf({ ...rest, ...who, listen: {} })).toEqual(['listen.host', 'listen.port', 'origins']);
  });

  test.each([
    ['clients', { clients: ['10.0.0.0/8'] }],
    ['public', { public: { plansPerMinute: 60, bytesPerHour: 1e9 } }],
  ])('may serve by %s alone', (_, who) => {
    const { origins: _origins, ...rest } = least;
    expect(mistakesOf({ ...rest, ...who })).toEqual([]);
  });

  test('that meets other masters over NATS on this machine, or elsewhere with certificates, is taken', () => {
    const tls = { certFile: 'bus.pem', keyFile: 'bus.key' };
    const here = { site: 'rj', servers: ['nats://127.0.0.1:4222', 'nats://localhost', 'nats://[::1]:4222'] };
    const there = { site: 'rj', servers: ['tls://nats.example:4222'], tls, trustedCaFiles: ['ca.pem'] };
    for (const bus of [here, there]) expect(mistakesOf({ ...least, bus })).toEqual([]);
  });

  test('whose bus has mistakes is refused with all of them', () => {
    const bus = {
      site: 'R J',
      servers: ['nats://user:secret@127.0.0.1', 'http://127.0.0.1', 'nats://127.0.0.1/x', 'nats://'],
      tls: { certFile: 'bus.pem' },
      trustedCaFiles: [''],
      server: 'x',
    };
    expect(mistakesOf({ ...least, bus }).toSorted()).toEqual(
      [0, 1, 2, 3]
        .map((index) => `bus.servers.${index}`)
        .concat('bus.server', 'bus.site', 'bus.tls.keyFile', 'bus.trustedCaFiles.0')
        .toSorted(),
    );
    expect(mistakesOf({ ...least, bus: { site: 'rj', servers: [] } })).toEqual(['bus.servers']);
  });

  test.each([
    'nats://nats.example:4222',
    'nats://127.0.0.1.example',
    'tls://127.0.0.1:4222',
    'nats://10.0.0.1',
  ])('that would speak with %s without certificates is refused', (server) => {
    expect(mistakesOf({ ...least, bus: { site: 'rj', servers: [server] } })).toEqual(['bus.tls']);
  });

  test.each(['tls://10.0.0.1', 'tls://[2001:db8::1]:4222', 'nats://127.0.0.1'])(
    'that would compare the certificate of %s with an address is refused',
    (server) => {
      const tls = { certFile: 'bus.pem', keyFile: 'bus.key' };
      expect(mistakesOf({ ...least, bus: { site: 'rj', servers: [server], tls } })).toEqual(['bus.servers']);
    },
  );

  test('that gives this master two sites is refused', () => {
    const bus = { site: 'rj', servers: ['nats://127.0.0.1'] };
    expect(mistakesOf({ ...least, bus, prefixes: { site: 'pe' } })).toEqual(['bus.site']);
    expect(mistakesOf({ ...least, bus, prefixes: { site: 'rj' } })).toEqual([]);
  });

  test.each([undefined, null, 'text', []])('that is %j is refused, not crashed on', (input) => {
    expect(mistakesOf(input)).not.toEqual([]);
  });
});

/** Full keys of the numbers in a configuration, with their values. */
function numbersOf(part: object, path = ''): (readonly [string, number])[] {
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === 'number') return [[path + key, value] as const];
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isTable ? numbersOf(value, `${path}${key}.`) : [];
  });
}

test('docs/limits.md lists every number that an operator may change, by its key and with its default', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'limits.md'), 'utf8');
  const rows = [...page.matchAll(/^\| master\.yaml \| (.+?) \| (\S+) \|/gm)];
  const listed = rows.flatMap(([, keys = '', value]) =>
    [...keys.matchAll(/`(.+?)`/g)].map(([, key = '']) => [key, Number(value)] as const),
  );
  const given = new Set(['listen.port', 'planner.assumptions.lossRate']);
  const defaults = numbersOf(readMasterConfig(least)).filter(([key]) => !given.has(key));
  expect(new Map(listed)).toEqual(new Map(defaults));
});
