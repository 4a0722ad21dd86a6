import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ERRORS, type ErrorCode, errorAnswerSchema, LonghaulError, parseOriginUrl } from '@longhaul/shared';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { rawGet, rawRequest } from '../testing/raw-request.ts';
import { answerRefusal, type Refused } from './answer-refusal.ts';
import { helpPage } from './help-page.ts';
import { baseOf } from './refusal-page.ts';

const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].status >= 400);
const HTML = ['Accept: text/html,*/*;q=0.8'];

let server: Server;
afterEach(() => {
  server.close();
});

/** A server that refuses every request with this code; gives its port. */
async function refusing(code: ErrorCode, refused: Refused = {}, masterUrl?: string): Promise<number> {
  server = createServer((request, response) =>
    answerRefusal(request, response, new LonghaulError(code), refused, masterUrl),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

function download(text: string): Refused {
  const url = parseOriginUrl(text);
  return { ...(url.ok ? { target: url.value } : {}), typed: { link: text, size: '' } };
}

/** Every address that a page names as one to go to. */
function addressesIn(body: string): string[] {
  return [...body.matchAll(/(?:href|action|src)="([^"]*)"/g)].map(([, address = '']) => address);
}

describe('every refusal', () => {
  test.each(CODES)('%s is told to people, tools and programs alike', async (code) => {
    const { status, message, retry, direct } = ERRORS[code];
    const port = await refusing(code, download('https://evil.example/x'));
    const page = await rawGet(port, '/get/https/evil.example/a/x?b=/c', HTML);
    const shown = page.body.replaceAll('&#39;', "'");
    expect(page).toMatchObject({ status, headers: { 'longhaul-error': code, 'cache-control': 'no-store' } });
    expect(shown).toContain(message);
    expect(shown, 'there is no repository where people read this').not.toMatch(/docs\/|\.md\b|src\//);
    expect(page.body).toContain(`href="../../../../help#${code}"`);
    expect(helpPage()).toContain(`id="${code}"`);

    const text = await rawGet(port, '/get/https/evil.example/x');
    expect(text.body, 'no address that only a browser could go to').toBe(`${code}: ${message}\n`);

    const json = await rawGet(port, '/v1/plans');
    const answer = errorAnswerSchema.parse(JSON.parse(json.body));
    expect(answer.error).toEqual({ code, message, retry, direct, help: `help#${code}` });

    const mayWait = retry && (status === 429 || status === 503);
    for (const { headers } of [page, text, json]) {
      expect('retry-after' in headers, 'where waiting helps it says how long').toBe(mayWait);
    }
    expect((await rawRequest(port, 'HEAD /get/x HTTP/1.1', HTML)).body).toBe('');
  });
});

test('the text of a refusal names the help where the master knows its own address', async () => {
  const port = await refusing('not-found', {}, 'https://get.example');
  const { body } = await rawGet(port, '/get/https/evil.example/x');
  expect(body).toBe(`not-found: ${ERRORS['not-found'].message}\nHelp: https://get.example/help#not-found\n`);
});

describe('the page of a refusal', () => {
  test('leads to pages of this master only, whoever the download was from', async () => {
    for (const code of CODES) {
      const port = await refusing(code, download('https://evil.example/a?x=1'));
      const { body, headers } = await rawGet(port, '/get/https/evil.example/a?x=1', HTML);
      for (const address of addressesIn(body)) {
        const { origin, pathname } = new URL(address, 'https://get.example/get/https/evil.example/a?x=1');
        expect(origin, code).toBe('https://get.example');
        if (address !== '') expect(['/', '/help'], code).toContain(pathname);
      }
      expect(body).not.toMatch(/<script|http-equiv|style="/);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']*';/);
      expect(headers['content-security-policy']).toContain("form-action 'self'");
      server.close();
    }
  });

  test('shows the address as text where the origin itself may help, and only there', async () => {
    for (const [code, shown] of [
      ['origin-not-allowed', true],
      ['port-not-allowed', true],
      ['internal', true],
      ['rate-limited', false],
      ['target-not-public', false],
      ['method-not-allowed', false],
      ['not-found', false],
    ] as const) {
      const port = await refusing(code, download('https://evil.example:8443/a%20b?"x'));
      const { body } = await rawGet(port, '/get/https/evil.example:8443/a%20b', HTML);
      const address = '<code class="line">https://evil.example:8443/a%20b?%22x</code>';
      expect(body.includes(address), code).toBe(shown);
      expect(/trust/.test(body), code).toBe(shown);
      server.close();
    }
  });

  test('shows nothing of an address that is none, but in the field where it can be corrected', async () => {
    const typed = { link: 'https://you have won"><script>alert(1)</script>', size: '1 GB' };
    const port = await refusing('url-has-credentials', { typed });
    const { body } = await rawGet(port, '/get?url=x', HTML);
    expect(body).toContain('value="https://you have won&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(body).toContain('value="1 GB"');
    expect(body.split('you have won')).toHaveLength(2);
    expect(body).toContain('<form class="link-form" action="./" method="get">');
  });

  test('offers no field where there is no link to correct, and another try only where that may help', async () => {
    let port = await refusing('not-found');
    expect((await rawGet(port, '/nothing', HTML)).body).not.toContain('<form');
    server.close();
    for (const [code, again] of [
      ['rate-limited', true],
      ['origin-not-allowed', false],
    ] as const) {
      port = await refusing(code, download('https://o.example/x'));
      const { body } = await rawGet(port, '/get/https/o.example/x', HTML);
      expect(body.includes('<a class="button" href="">Try again</a>'), code).toBe(again);
      server.close();
    }
  });
});

test('the way from any address to the first page is found without naming the master', () => {
  const segment = fc.stringMatching(/^[!-.0->@-~]{0,6}$/).filter((text) => !/^(\.|%2e){1,2}$/i.test(text));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), fc.constantFrom('', '?a=/b/../c'), (segments, query) => {
      const target = `/${segments.join('/')}${query}`.replaceAll('#', '').replaceAll('\\', '');
      fc.pre(!/\/(\.|%2e){1,2}(\/|$|\?)/i.test(target));
      expect(new URL(`${baseOf(target)}help`, `https://proxy.example/master${target}`).pathname).toBe(
        '/master/help',
      );
    }),
  );
});

test('the help page explains every code that can reach somebody, from the registry alone', () => {
  const page = helpPage();
  for (const code of CODES) {
    expect(page).toContain(`id="${code}">\n<h2><code>${code}</code></h2>`);
    expect(page.replaceAll('&#39;', "'").replaceAll(/<\/?code>/g, '`')).toContain(ERRORS[code].message);
  }
  expect(page).toContain('list it in <code>metricsHosts</code>');
  expect(page).not.toContain('config-invalid');
  expect(page).not.toMatch(/docs\/|\.md\b/);
});
