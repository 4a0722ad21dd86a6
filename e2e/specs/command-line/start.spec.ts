import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../fixtures/run-program.ts';
import { expect, test } from '../../fixtures/test.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** How curl ends when `--fail` was given and the answer is a refusal. */
const CURL_HTTP_ERROR = 22;

interface Ready {
  readonly master: string;
  readonly origin: string;
  readonly depots: readonly string[];
  readonly sample: { readonly url: string; readonly sizeBytes: number; readonly sha256: string };
  readonly extension: { readonly chrome: string; readonly firefox: string };
}

let state: string;
test.beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'longhaul-start-'));
});
test.afterEach(() => rmSync(state, { recursive: true, force: true }));

async function start(): Promise<{ child: ChildProcess; ready: Ready; output: () => string }> {
  const child = spawn('npm', ['start', '--', '--port', '0', '--state', state], { cwd: root, detached: true });
  let output = '';
  const line = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = /^ready (.*)$/m.exec(output)?.[1];
      if (found !== undefined && output.endsWith('\n')) resolve(found);
    });
    child.once('exit', () => reject(new Error(`npm start ended:\n${output}`)));
  });
  return { child, ready: JSON.parse(await line) as Ready, output: () => output };
}

test('npm start serves its sample through two depots, says how, and ends with Ctrl-C', async () => {
  const { child, ready, output } = await start();
  const exited = once(child, 'exit');
  try {
    expect(output().trimEnd().split('\n').at(-1)).toMatch(/^ready \{/);
    const [line = '', link = ''] = /curl --fail -L -O (\S+)/.exec(output()) ?? [];
    const plan = await fetch(`${ready.master}/v1/plans`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: ready.sample.url }),
    });
    expect((await plan.json()) as object).toMatchObject({ decision: 'chain', chain: ['d1', 'd3'] });
    const body = Buffer.from(await (await fetch(link)).arrayBuffer());
    expect([body.length, sha256Hex(body)]).toEqual([ready.sample.sizeBytes, ready.sample.sha256]);
    const refused = await runProgram('sh', ['-c', line.replace('sample.bin', 'missing.bin')], state);
    expect(refused.code, 'the printed line does not save a refusal as the file').toBe(CURL_HTTP_ERROR);
    expect(existsSync(join(state, 'missing.bin'))).toBe(false);
    expect(ready.depots).toHaveLength(3);
    for (const url of [ready.master, ready.origin, ...ready.depots])
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    for (const dir of Object.values(ready.extension))
      expect(existsSync(join(dir, 'manifest.json'))).toBe(true);
    expect(await (await fetch(`${ready.master}/v1/status`)).text()).toContain('imaginary WAN');
  } finally {
    const asked = performance.now();
    // What a terminal does on Ctrl-C: an interrupt for every process of the group.
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await exited;
    expect(performance.now() - asked).toBeLessThan(2000);
  }
  const alive = await fetch(ready.master).then(
    () => true,
    () => false,
  );
  expect(alive).toBe(false);
});

test('a depot lists every file that it cannot use, with its key', async () => {
  const config = join(state, 'files.yaml');
  writeFileSync(
    config,
    `id: d1
listen: { host: 127.0.0.1, port: 0 }
stateDir: x
master: { url: 'http://127.0.0.1:1', enrolmentSecretFile: none }
tls: { certFile: ${config}, keyFile: ${config} }
trustedCaFiles: [${config}]
`,
  );
  const main = join(root, 'depot-node', 'src', 'main.ts');
  const result = await runProgram(process.execPath, [main, '--config', config], state);
  expect(result.code).toBe(1);
  for (const key of ['master.enrolmentSecretFile:', 'tls:', 'trustedCaFiles.0:'])
    expect(result.output).toContain(key);
});

test('npm start says what may be asked of it, and starts nothing then', async () => {
  const result = await runProgram('npm', ['start', '--', '--help'], root);
  expect(result.code).toBe(0);
  expect(result.output).toContain('Usage: npm start -- [--port <number>]');
  expect(result.output).not.toContain('Starting');
});

test('npm start refuses ports that are none, in one sentence', async () => {
  const result = await runProgram('npm', ['start', '--', '--port', 'many', '--state', state], root);
  expect(result.code).toBe(1);
  expect(result.output).toContain('--port many: give 0 for any free ports');
});

test('npm start says what to do when one of its ports is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  // The second one is the master's.
  const result = await runProgram('npm', ['start', '--', '--port', String(port - 1), '--state', state], root);
  other.close();
  expect(result.code).toBe(1);
  expect(result.output).toContain('A port is in use. Choose others: npm start -- --port 0');
});

for (const [program, mistakes] of [
  ['depot-node', ['id:', 'listen.port:', 'master.url:', 'nonsense: there is no such key']],
  ['master-service', ['listen.port:', 'origins', 'nonsense: there is no such key']],
] as const) {
  test(`${program} refuses a bad configuration and lists every mistake`, async () => {
    const config = join(state, 'bad.yaml');
    writeFileSync(
      config,
      'id: Not_An_Id\nlisten: { host: 127.0.0.1, port: 70000 }\nstateDir: x\nnonsense: 1\nmaster: { url: nowhere, enrolmentSecretFile: x }\n',
    );
    const main = join(root, program, 'src', 'main.ts');
    const result = await runProgram(process.execPath, [main, '--config', config], state);
    expect(result.code).toBe(1);
    for (const mistake of mistakes) expect(result.output).toContain(mistake);
  });
}
