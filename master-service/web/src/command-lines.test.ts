import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileNameOf, formatGetPath, MIB, parseOriginUrl } from '@longhaul/shared';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commandLines } from './command-lines.ts';
import type { Shell } from './shell-quoting.ts';
import { cmdArguments, powershellArguments } from './testing/windows-shells.ts';

/** The master's link and the file name that the page has for what a person pasted; `undefined` for what it refuses. */
function linkOf(pasted: string, masterUrl = 'https://get.example') {
  const url = parseOriginUrl(pasted);
  if (!url.ok) return undefined;
  return { link: `${masterUrl}${formatGetPath(url.value)}`, name: fileNameOf(url.value) };
}

function lineOf(program: string, shell: Shell, link: string, name: string): string {
  return commandLines(shell, link, name).find((line) => line.program === program)?.line ?? '';
}

describe('a line', () => {
  test('fails on a refusal, follows, goes on where it was, and names the file', () => {
    expect(commandLines('sh', 'https://m/get/https/o/%C4%90.iso', 'Đ.iso').map(({ line }) => line)).toEqual([
      "curl --fail --location --globoff -C - -o 'Đ.iso' 'https://m/get/https/o/%C4%90.iso'",
      "wget -c -O 'Đ.iso' 'https://m/get/https/o/%C4%90.iso'",
      "aria2c -c -o 'Đ.iso' 'https://m/get/https/o/%C4%90.iso'",
    ]);
    expect(lineOf('curl', 'powershell', "https://m/it's", "it's")).toBe(
      "curl.exe --fail --location --globoff -C - -o 'it''s' 'https://m/it''s'",
    );
    expect(lineOf('curl', 'cmd', 'https://m/100%25', '100%')).toBe(
      'curl --fail --location --globoff -C - -o "100"^%"" "https://m/100"^%"25"',
    );
  });

  test('calls no file by an option, by standard output or by a device', () => {
    expect(lineOf('curl', 'sh', 'https://m/-', '-')).toContain(" -o './-' ");
    expect(lineOf('aria2c', 'powershell', 'https://m/-x', '-x')).toContain(" -o './-x' ");
    expect(lineOf('curl', 'cmd', 'https://m/NUL.txt', 'NUL.txt')).toContain(' -o "_NUL.txt" ');
    expect(lineOf('curl', 'sh', 'https://m/nul', 'nul')).toContain(" -o 'nul' ");
  });

  test('is not given where cmd could not take it', () => {
    expect(commandLines('cmd', `https://m/${'%41'.repeat(2000)}`, 'a')).toEqual([]);
    expect(commandLines('powershell', `https://m/${'%41'.repeat(2000)}`, 'a')).toHaveLength(3);
  });

  test('hands address and name to the program as they are, whatever a link has in it, in cmd and PowerShell', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...'\'"%$`!&^|<>();~[]{}=\\ -@,:+#?/.'.split(''),
        '\n',
        '%PATH%',
        '%27',
        '%22',
        '%0A',
        '‘',
        'ü',
        '💾',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    );
    const pasted = fc.array(piece, { maxLength: 14 }).map((parts) => `https://o.example/${parts.join('')}`);
    const shells = [
      ['cmd', cmdArguments, /["*/:<>?\\|]/],
      ['powershell', powershellArguments, /["*/:<>?\\|]/],
    ] as const;
    fc.assert(
      fc.property(pasted, fc.constantFrom(...shells), (text, [shell, read, forbidden]) => {
        const found = linkOf(text);
        if (!found) return;
        const { link, name } = found;
        expect(name).not.toMatch(forbidden);
        const [, , , , , output = '', url] = read(lineOf('curl', shell, link, name)).slice(-7);
        expect(url).toBe(link);
        expect(output.replace(/^(\.\/(?=-)|_)/, '')).toBe(name.replace(/^_/, ''));
      }),
      { numRuns: 2000 },
    );
  });
});

const HAS = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

describe.each(['curl', 'wget', 'aria2c'])('in sh, %s', (program) => {
  const BODY = Buffer.alloc(3 * MIB, 'no two parts of it are alike, or nearly so, 0123456789');
  // aria2c goes on at a whole MiB.
  const HALF = BODY.subarray(0, 2 * MIB);
  let server: Server;
  let master = '';
  let dir = '';
  const asked: { readonly url: string; readonly range: string | undefined }[] = [];

  /** Master and origin in one: a redirect like the master's, a file with ranges, and refusals. */
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '', headers } = request;
    asked.push({ url, range: headers.range });
    if (url.includes('refused')) {
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end('origin-not-allowed: no\n');
    } else if (url.startsWith('/get/')) {
      response.writeHead(307, { Location: '/ticket?server=o', 'Cache-Control': 'no-store' }).end();
    } else {
      const start = Number(/^bytes=([0-9]+)-/.exec(headers.range ?? '')?.[1] ?? 0);
      const part = { 'Content-Range': `bytes ${start}-${BODY.length - 1}/${BODY.length}` };
      response.writeHead(start > 0 ? 206 : 200, {
        'Content-Length': BODY.length - start,
        'Accept-Ranges': 'bytes',
        ETag: '"1"',
        'Last-Modified': 'Sun, 01 Nov 2026 12:00:00 GMT',
        ...(start > 0 ? part : {}),
      });
      response.end(request.method === 'HEAD' ? undefined : BODY.subarray(start));
    }
  };
  const paste = (pasted: string): Promise<number | null> => {
    const { link = '', name = '' } = linkOf(pasted, master) ?? {};
    const line = lineOf(program, 'sh', link, name);
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', line], {
        cwd: dir,
        stdio: 'ignore',
        env: { PATH: process.env.PATH, HOME: dir, LC_ALL: 'C.UTF-8' },
      });
      child.once('error', reject).once('close', resolve);
    });
  };

  beforeAll(async () => {
    server = createServer(answer);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    master = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'longhaul-lines-'));
    asked.length = 0;
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test.runIf(HAS(program)).each([
    ['https://o.example/pub/file-1.0.iso', 'file-1.0.iso'],
    ['https://o.example/%C4%90%E1%BB%A9c.iso?a=1&b=$(id)', 'Đức.iso'],
    ["https://o.example/it's%20a%20%22file%22.iso", "it's a _file_.iso"],
    ['https://o.example/[1-3]{a,b}#1%231.iso', '[1-3]{a,b}'],
    ['https://o.example/%231%24HOME%60id%60!%26%5E.bin', '#1$HOME`id`!&^.bin'],
    ['https://o.example/100%25%20%25PATH%25.bin', '100% %PATH%.bin'],
    ['https://o.example/two%0Alines', 'two_lines'],
    ['https://o.example/-o%20x', '-o x'],
    ['https://o.example/-', '-'],
    ['https://o.example/pub/', 'o.example'],
    ['https://o.example', 'o.example'],
  ])('saves %s as "%s"', async (pasted, name) => {
    expect(await paste(pasted)).toBe(0);
    expect(readdirSync(dir)).toEqual([name]);
    expect(readFileSync(join(dir, name)).equals(BODY)).toBe(true);
    expect(asked[0]?.url, 'not a byte of the address is lost').toBe(
      linkOf(pasted)?.link.slice('https://get.example'.length),
    );
  });

  test.runIf(HAS(program))('takes a refusal for a failure, and for no file', async () => {
    expect(await paste('https://o.example/refused.iso')).not.toBe(0);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.runIf(HAS(program))('goes on where it was, and keeps what it has when it is refused', async () => {
    writeFileSync(join(dir, 'half.iso'), HALF);
    expect(await paste('https://o.example/half.iso')).toBe(0);
    expect(readFileSync(join(dir, 'half.iso')).equals(BODY)).toBe(true);
    expect(asked.at(-1)?.range).toMatch(`bytes=${2 * MIB}-`);
    writeFileSync(join(dir, 'refused.iso'), HALF);
    expect(await paste('https://o.example/refused.iso')).not.toBe(0);
    expect(readFileSync(join(dir, 'refused.iso')).equals(HALF)).toBe(true);
  });
});
