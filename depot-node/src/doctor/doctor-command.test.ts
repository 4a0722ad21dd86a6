import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatChallengeTarget, type RegisterRequest } from '@longhaul/shared';
import { selfSigned } from '@longhaul/shared/service';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestMaster, type TestMaster } from '../testing/test-master.ts';
import { runDoctor } from './doctor-command.ts';
import type { Machine } from './machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A machine that has nothing to complain about, because it can tell nothing. */
const silent: Machine = {
  platform: 'other',
  kernelRelease: '0',
  isPrivileged: false,
  readText: () => undefined,
  kernelCallsMissing: 'not Linux',
  takesCongestionControl: () => undefined,
  isClockSynchronised: () => undefined,
  hasWayOut: async () => true,
};

async function doctor(args: readonly string[], machine: Machine | undefined, nowMs = Date.now) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const code = await runDoctor(args, { write, version: '1.2.3', nowMs, ...(machine ? { machine } : {}) });
  return { code, lines: text.trimEnd().split('\n') };
}

function configFile(masterUrl: string, secret = 'secret', more = ''): string {
  writeFileSync(join(folder, 'secret'), `${secret}\n`);
  const path = join(folder, 'depot.yaml');
  writeFileSync(
    path,
    `id: d1\nlisten: { host: 127.0.0.1, port: 0 }\nstateDir: state\n` +
      `master: { url: "${masterUrl}", enrolmentSecretFile: secret }\n${more}`,
  );
  return path;
}

test('looks at the machine it runs on, one line for each check', async () => {
  const { code, lines } = await doctor([], undefined);
  for (const line of lines) expect(line).toMatch(/^(ok {4}|warn {2}|fail {2})\S/);
  expect(code).toBe(lines.some((line) => line.startsWith('fail')) ? 1 : 0);
});

describe('with a master', () => {
  let master: TestMaster;
  beforeEach(async () => {
    master = await startTestMaster();
  });
  afterEach(() => master.close());

  test('compares the clock with its', async () => {
    const config = configFile(master.url, master.secret);
    const right = await doctor(['--config', config], silent);
    expect(right.code).toBe(0);
    expect(right.lines.join('\n')).toContain('agree to within 2 s');
    const wrong = await doctor(['--config', config], silent, () => Date.now() + 3_600_000);
    expect(wrong.code).toBe(1);
    expect(wrong.lines.join('\n')).toMatch(/fail .*clock.* 3\d\d\d\.\d s ahead, of 60 s allowed {2}-> /);
  });

  test('tries whether it would take the depot, without registering it or making its key', async () => {
    const { code, lines } = await doctor(['--config', configFile(master.url, master.secret)], silent);
    expect(code).toBe(0);
    expect(lines.join('\n')).toMatch(/ok .*registration +the master would take it/);
    expect(lines.join('\n')).toMatch(
      /ok .*registered address +the master finds this depot at http:\/\/127\.0\.0\.1:/,
    );
    expect(master.requests.map(({ path }) => path)).toEqual(['/v1/depots/trial']);
    expect(existsSync(join(folder, 'state'))).toBe(false);
  });

  test('answers it while the depot does not run', async () => {
    let proved: unknown;
    master.beforeAnswer = async () => {
      const [asked] = master.requests.map(({ body }) => body as RegisterRequest);
      const target = formatChallengeTarget('c'.repeat(43));
      proved = await (await fetch(`http://127.0.0.1:${asked?.port}${target}`)).json();
    };
    await doctor(['--config', configFile(master.url, master.secret)], silent);
    expect(proved).toEqual({ id: 'd1', signature: expect.stringMatching(/^[\w-]{86}$/) as string });
  });

  test('says that the enrolment secret is wrong', async () => {
    const { code, lines } = await doctor(['--config', configFile(master.url, 'another')], silent);
    expect(code).toBe(1);
    expect(lines.join('\n')).toMatch(/fail .*registration +enrolment-refused: The enrolment secret is wrong/);
  });
});

test('fails where the master cannot be reached, and says why', async () => {
  const { code, lines } = await doctor(['--config', configFile('http://127.0.0.1:1')], silent);
  expect(code).toBe(1);
  expect(lines.join('\n')).toMatch(/fail .*registration +master-unreachable: .*ECONNREFUSED.* {2}-> /);
});

describe('with a certificate', () => {
  const TLS = 'tls: { certFile: cert.pem, keyFile: key.pem }\n';
  beforeEach(() => {
    const { cert, key } = selfSigned();
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
  });
  const certificateLines = async (
    more: string,
    nowMs = Date.now,
    master = 'http://127.0.0.1:1',
    tls = TLS,
  ) => {
    const config = configFile(master, 'secret', `${tls}${more}`);
    const { lines } = await doctor(['--config', config], silent, nowMs);
    return lines.filter((line) => line.includes('certificate'));
  };

  test('says until when it is valid', async () => {
    expect(await certificateLines('')).toEqual([
      expect.stringMatching(/^ok .*certificate of tls +valid until 2099-12-31T/),
    ]);
  });

  test('warns where it is about to expire', async () => {
    expect(await certificateLines('', () => Date.UTC(2099, 11, 18))).toEqual([
      expect.stringMatching(/^warn .*certificate of tls +valid until 2099-12-31T\S+ only {2}-> {2}renew it/),
    ]);
  });

  test('fails where it has expired', async () => {
    expect(await certificateLines('', () => Date.UTC(2100, 1))).toEqual([
      expect.stringMatching(/^fail .*the certificate has expired at 2099-12-31T.* {2}-> {2}renew it/),
    ]);
  });

  test('warns where there is none and clients come by https', async () => {
    expect(await certificateLines('', Date.now, 'https://127.0.0.1:1', '')).toEqual([
      expect.stringMatching(/^warn .*certificate of tls +there is none: clients who come by https .* {2}-> /),
    ]);
    expect(await certificateLines('', Date.now, 'http://127.0.0.1:1', '')).toEqual([]);
  });

  test('fails where it is for another host than the one that others dial', async () => {
    expect(await certificateLines('public: { host: d1.example }\n')).toEqual([
      expect.stringMatching(/^fail .*tls: the certificate in certFile is not for d1\.example/),
    ]);
  });
});

test.skipIf(process.platform === 'win32')(
  'warns of keys and secrets that every account can read, unless a folder hides them',
  async () => {
    const { cert, key } = selfSigned();
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    const config = configFile(
      'http://127.0.0.1:1',
      'secret',
      'tls: { certFile: cert.pem, keyFile: key.pem }\n',
    );
    mkdirSync(join(folder, 'state'), { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, 'state', 'overlay-key'), 'key');
    const open = async () => {
      const { lines } = await doctor(['--config', config], silent);
      const looked = lines.filter((line) => line.includes('readers of '));
      expect(looked).toHaveLength(3);
      return looked.flatMap((line) => /^warn +readers of (\S+) .*chmod o-rwx /.exec(line)?.[1] ?? []);
    };
    const files = ['key.pem', 'secret', 'state/overlay-key'].map((name) => join(folder, name));
    for (const file of files) chmodSync(file, 0o644);
    chmodSync(join(folder, 'state'), 0o755);
    try {
      chmodSync(folder, 0o755);
      expect(await open()).toEqual(['tls.keyFile', 'master.enrolmentSecretFile', 'overlay-key']);
      chmodSync(join(folder, 'state'), 0o700);
      chmodSync(join(folder, 'key.pem'), 0o640);
      expect(await open()).toEqual(['master.enrolmentSecretFile']);
    } finally {
      chmodSync(folder, 0o700);
    }
    expect(await open()).toEqual([]);
    rmSync(join(folder, 'state'), { recursive: true });
  },
);

test('a configuration with mistakes fails, each mistake in a line of its own', async () => {
  const config = configFile(
    'http://127.0.0.1:1',
    'secret',
    'sockets: { client: { congestionControl: "" }, x: 1 }\n',
  );
  const { code, lines } = await doctor(['--config', config], silent);
  expect(code).toBe(1);
  expect(lines.filter((line) => line.startsWith('fail'))).toEqual([
    expect.stringContaining('sockets.client.congestionControl'),
    expect.stringContaining('sockets.x: there is no such key'),
  ]);
});

test.each([
  [['--mbps', 'fast'], '--mbps must be a number above 0'],
  [['--rtt-ms', '-1'], "'--rtt-ms'"],
  [['--rtt-ms=0'], '--rtt-ms must be a number above 0'],
  [['--help-me'], '--help-me'],
])('refuses %j', async (args, message) => {
  await expect(doctor(args, silent)).rejects.toThrow(message);
});
