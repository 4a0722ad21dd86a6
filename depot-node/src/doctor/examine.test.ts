import { LonghaulError } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { fitDescriptors } from '../sockets/descriptor-limits.ts';
import { legTableSchema } from '../sockets/leg-options.ts';
import type { AskMaster, Trial } from './ask-master.ts';
import { type Demands, examine } from './examine.ts';
import type { Finding } from './finding.ts';
import type { Machine } from './machine.ts';

const FILES: Readonly<Record<string, string>> = {
  '/proc/sys/net/ipv4/tcp_rmem': '4096\t131072\t33554432\n',
  '/proc/sys/net/ipv4/tcp_wmem': '4096\t16384\t33554432\n',
  '/proc/sys/net/core/rmem_max': '212992\n',
  '/proc/sys/net/core/wmem_max': '212992\n',
  '/proc/sys/net/ipv4/tcp_mem': '3000000\t4000000\t6000000\n',
  '/proc/sys/net/ipv4/tcp_available_congestion_control': 'reno cubic bbr\n',
  '/proc/sys/net/ipv4/tcp_allowed_congestion_control': 'reno cubic bbr\n',
  '/proc/sys/net/ipv4/tcp_congestion_control': 'cubic\n',
  '/proc/sys/net/core/default_qdisc': 'fq_codel\n',
  '/proc/sys/net/core/somaxconn': '4096\n',
  '/proc/sys/net/mptcp/enabled': '1\n',
  '/proc/sys/net/ipv4/tcp_window_scaling': '1\n',
  '/proc/sys/net/ipv4/tcp_sack': '1\n',
  '/proc/sys/net/ipv4/tcp_slow_start_after_idle': '0\n',
  '/proc/sys/fs/pipe-user-pages-soft': '65536\n',
  '/proc/sys/fs/pipe-max-size': '1048576\n',
  '/proc/self/limits': 'Limit  Soft  Hard  Units\nMax open files            1024      65536     files\n',
};

interface Change extends Partial<Omit<Machine, 'readText'>> {
  readonly files?: Readonly<Record<string, string | undefined>>;
}

function machineWith({ files = {}, ...rest }: Change = {}): Machine {
  const all: Readonly<Record<string, string | undefined>> = { ...FILES, ...files };
  return {
    platform: 'linux',
    kernelRelease: '6.12.9-generic',
    isPrivileged: false,
    kernelCallsMissing: undefined,
    takesCongestionControl: (name) => ['reno', 'cubic', 'bbr'].includes(name),
    isClockSynchronised: () => true,
    hasWayOut: async () => true,
    ...rest,
    readText: (path) => all[path],
  };
}

const sysctl = (name: string, value: string | undefined) => ({
  files: { [`/proc/sys/${name.replaceAll('.', '/')}`]: value },
});

const TAKEN: AskMaster = {
  readOffsetMs: async () => 0,
  tryRegistration: async () => ({ baseUrl: 'https://d1.example:443' }),
};

/** A master that says something else. */
const master = (changed: Partial<AskMaster>): { master: AskMaster } => ({ master: { ...TAKEN, ...changed } });
const trial = (said: Partial<Trial>) =>
  master({ tryRegistration: async () => ({ baseUrl: 'https://d1.example:443', ...said }) });

const demand = (changed: Partial<Omit<Demands, 'sockets'>> & { sockets?: object } = {}): Demands => ({
  users: { transfers: 2000, connections: 10_000, lanes: 500, preparedWays: 64 },
  goal: { bandwidthBps: 1e9, rttMs: 100 },
  master: TAKEN,
  ...changed,
  sockets: legTableSchema.parse(changed.sockets ?? {}),
});

async function complaints(change: Change, changed?: Parameters<typeof demand>[0]): Promise<Finding[]> {
  const findings = await examine(machineWith(change), demand(changed));
  return findings.filter(({ level }) => level !== 'ok');
}

test('a machine that is set up well has nothing to change', async () => {
  const findings = await examine(machineWith(), demand());
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
  expect(findings.filter(({ change }) => change !== undefined)).toEqual([]);
  expect(findings.length).toBeGreaterThan(15);
});

describe('each lack is named with what removes it', () => {
  test.each<[string, Change, 'warn' | 'fail', string, string, Parameters<typeof demand>[0]?]>([
    [
      'no way out by IPv4',
      { hasWayOut: async (family) => family === 'IPv6' },
      'warn',
      'no route by IPv4: no chain ends here for origins that have nothing else',
      'give this machine an address and a default route of IPv4',
    ],
    [
      'no way out by IPv6',
      { hasWayOut: async (family) => family === 'IPv4' },
      'warn',
      'no route by IPv6: no chain ends here for origins that have nothing else',
      'give this machine an address and a default route of IPv6',
    ],
    [
      'a receive buffer below bandwidth x delay',
      sysctl('net.ipv4.tcp_rmem', '4096 131072 6291456'),
      'fail',
      'about 252 Mbit/s at 100 ms',
      'sysctl -w net.ipv4.tcp_rmem="4096 131072 25165824"',
    ],
    [
      'a send buffer that just fits',
      sysctl('net.ipv4.tcp_wmem', '4096 16384 16777216'),
      'warn',
      '16.0 MiB',
      'sysctl -w net.ipv4.tcp_wmem="4096 16384 25165824"',
    ],
    [
      'a cap that the kernel cuts',
      {},
      'warn',
      'sendBufferBytes',
      'sysctl -w net.core.wmem_max=1000000',
      { sockets: { client: { sendBufferBytes: 1_000_000 } } },
    ],
    [
      'memory for few stalled readers',
      sysctl('net.ipv4.tcp_mem', '10000 20000 30000'),
      'warn',
      'stalled readers',
      'receiveBufferBytes',
    ],
    [
      'a congestion control that is not offered',
      { takesCongestionControl: (name: string) => name === 'cubic' },
      'warn',
      'cubic is used',
      'tcp_allowed_congestion_control',
    ],
    [
      'a congestion control that only root may use',
      sysctl('net.ipv4.tcp_allowed_congestion_control', 'reno cubic'),
      'warn',
      'root only',
      'sysctl -w net.ipv4.tcp_allowed_congestion_control="reno cubic bbr"',
    ],
    ['an old kernel', { kernelRelease: '4.14.0' }, 'warn', 'Linux 4.14.0', '4.19'],
    [
      'no pacing at all',
      { kernelRelease: '4.12.3' },
      'fail',
      'nothing paces',
      'sysctl -w net.core.default_qdisc=fq',
    ],
    ['no koffi', { kernelCallsMissing: 'koffi does not load' }, 'warn', 'does not load', '--omit=optional'],
    [
      'multipath that is off',
      sysctl('net.mptcp.enabled', '0'),
      'fail',
      'off',
      'sysctl -w net.mptcp.enabled=1',
      { sockets: { depot: { mptcp: true } } },
    ],
    [
      'multipath that the kernel lacks',
      sysctl('net.mptcp.enabled', undefined),
      'fail',
      'lacks it',
      'CONFIG_MPTCP',
      { sockets: { depot: { mptcp: true } } },
    ],
    [
      'no window scaling',
      sysctl('net.ipv4.tcp_window_scaling', '0'),
      'fail',
      '64 KiB',
      'sysctl -w net.ipv4.tcp_window_scaling=1',
    ],
    [
      'slow starts on kept connections',
      sysctl('net.ipv4.tcp_slow_start_after_idle', '1'),
      'warn',
      'begins slowly again',
      'sysctl -w net.ipv4.tcp_slow_start_after_idle=0',
    ],
    [
      'a short backlog',
      sysctl('net.core.somaxconn', '128'),
      'warn',
      '128',
      'sysctl -w net.core.somaxconn=4096',
    ],
    [
      'a backlog that is long enough for Node and short for relay threads',
      sysctl('net.core.somaxconn', '1024'),
      'warn',
      '1024',
      'sysctl -w net.core.somaxconn=4096',
      { threadTls: { ofClients: true, ofOrigins: false } },
    ],
    [
      'too few descriptors for the transfers',
      { files: { '/proc/self/limits': 'Max open files   1024   4096   files\n' } },
      'fail',
      '4096',
      'LimitNOFILE=',
    ],
    [
      'too few descriptors for idle clients as well',
      { files: { '/proc/self/limits': 'Max open files   1024   20000   files\n' } },
      'warn',
      '20000',
      'LimitNOFILE=',
    ],
    [
      'little memory for pipes',
      sysctl('fs.pipe-user-pages-soft', '16384'),
      'warn',
      '64 pipes',
      'sysctl -w fs.pipe-user-pages-soft=65536',
    ],
    [
      'small pipes',
      sysctl('fs.pipe-max-size', '65536'),
      'warn',
      '65536',
      'sysctl -w fs.pipe-max-size=1048576',
    ],
    ['no time service', { isClockSynchronised: () => false }, 'warn', 'knows of none', 'timedatectl'],
    [
      'a clock that drifts',
      {},
      'warn',
      '45.0 s behind',
      'timedatectl',
      master({ readOffsetMs: async () => -45_000 }),
    ],
    [
      'a clock that is too far off',
      {},
      'fail',
      '61.0 s ahead',
      'timedatectl',
      master({ readOffsetMs: async () => 61_000 }),
    ],
    [
      'a master that does not answer',
      {},
      'fail',
      'master-unreachable: The depot could not reach its master: check the address and the network. (nobody there)',
      'check master.url, the network, and trustedCaFiles',
      master({
        tryRegistration: () =>
          Promise.reject(new LonghaulError('master-unreachable', { detail: 'nobody there' })),
      }),
    ],
    [
      'a master.url that leads to something else of a master',
      {},
      'fail',
      'method-not-allowed',
      'mostly without a path',
      master({ tryRegistration: () => Promise.reject(new LonghaulError('method-not-allowed')) }),
    ],
    [
      'the wrong enrolment secret',
      {},
      'fail',
      'enrolment-refused',
      'copy enrolment-secret',
      master({ tryRegistration: () => Promise.reject(new LonghaulError('enrolment-refused')) }),
    ],
    [
      'something that is no master of this overlay',
      {},
      'fail',
      'master-bad-answer',
      'check master.url',
      master({ tryRegistration: () => Promise.reject(new SyntaxError('no JSON')) }),
    ],
    [
      'an id that another machine has',
      {},
      'fail',
      'depot-key-mismatch',
      "restore the depot's stateDir",
      trial({ refusal: { code: 'depot-key-mismatch', message: 'taken' } }),
    ],
    [
      'an address that the master cannot reach',
      {},
      'fail',
      'https://d1.example:443: ECONNREFUSED',
      'open the port in firewall and NAT',
      trial({ unproved: { code: 'depot-unreachable', message: 'https://d1.example:443: ECONNREFUSED' } }),
    ],
  ])('%s', async (_, change, level, found, remedy, changed) => {
    const [finding] = (await complaints(change, changed)).filter((one) => one.level === level);
    expect(finding).toMatchObject({
      level,
      found: expect.stringContaining(found),
      change: expect.stringContaining(remedy),
    });
  });
});

test('with as many descriptors as are advised a depot lowers none of its limits', async () => {
  const threadTls = { ofClients: true, ofOrigins: true };
  const few = { '/proc/self/limits': 'Max open files   1024   60064   files\n' };
  const [finding] = await complaints({ files: few }, { threadTls });
  const advised = Number(/LimitNOFILE=(\d+)/.exec(finding?.change ?? '')?.[1]);
  const { users } = demand();
  expect(fitDescriptors(users, 60_064, threadTls)).not.toEqual(users);
  expect(fitDescriptors(users, advised, threadTls)).toEqual(users);
  const enough = { '/proc/self/limits': `Max open files   1024   ${advised}   files\n` };
  expect(await complaints({ files: enough }, { threadTls })).toEqual([]);
});

test('limits of unprivileged users do not trouble root', async () => {
  const limits = sysctl('fs.pipe-user-pages-soft', '16384');
  expect(await complaints({ ...limits, isPrivileged: true })).toEqual([]);
});

test('where Node alone listens, no longer backlog is asked for than Node has wait', async () => {
  expect(await complaints(sysctl('net.core.somaxconn', '1024'))).toEqual([]);
});

test('on another system only what exists there is looked at', async () => {
  const other = {
    platform: 'darwin',
    files: Object.fromEntries(Object.keys(FILES).map((key) => [key, undefined])),
  };
  expect(await complaints({ ...other, isClockSynchronised: () => undefined })).toEqual([
    expect.objectContaining({ level: 'warn', what: 'kernel', change: 'run the depot on Linux' }),
  ]);
});

test('what is to be done about a master that does not answer is said once, and it is a failure', async () => {
  const away = () => Promise.reject(new LonghaulError('master-unreachable'));
  const found = await complaints({}, master({ readOffsetMs: away, tryRegistration: away }));
  expect(found.filter(({ change }) => change !== undefined)).toHaveLength(1);
  expect(found.map(({ level }) => level)).toEqual(['warn', 'fail']);
});
