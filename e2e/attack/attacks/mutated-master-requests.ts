import type { Attack } from '../attack.ts';
import { mutateHeads } from './mutated-heads.ts';

/** A request with a body of JSON. */
function post(path: string, body: object, headers: readonly string[] = []): string {
  const text = JSON.stringify(body);
  const lines = [
    'Host: master',
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    ...headers,
  ];
  return [`POST ${path} HTTP/1.1`, ...lines, '', text].join('\r\n');
}

const SIGNED = [
  `longhaul-time: ${Date.now()}`,
  'longhaul-sequence: AAAAAAAAAAAAAAAA 1',
  `longhaul-signature: ${'A'.repeat(86)}`,
  `longhaul-enrolment: ${'A'.repeat(43)}`,
];

export const MUTATED_MASTER_REQUESTS: Attack = {
  name: 'mutated-master-requests',
  does: 'sends requests to the master with one to three changes in each: links, plans, registrations, heartbeats, pages',
  promise: 'each is answered by a registered refusal or as what it asks for; none is a mistake of the master',
  worlds: ['splice'],
  quick: ['splice'],
  strike: (ground) =>
    mutateHeads(ground, 'master', [
      'GET /get/~size=1000,via=d2+d1,lanes=4/http/popular.files.example/1000/a.bin?q=1 HTTP/1.1\r\nHost: master\r\n\r\n',
      'GET /get?url=http%3A%2F%2Fpopular.files.example%2F1000%2Fa.bin&size=1%20MB HTTP/1.1\r\nHost: master\r\n\r\n',
      post('/v1/plans', { url: 'http://popular.files.example/1000/a.bin', sizeBytes: 1000, kind: 'tunnel' }),
      post(
        '/v1/depots',
        { id: 'd9', publicKey: 'A'.repeat(43), host: '10.77.9.9', port: 8080, tls: false },
        SIGNED,
      ),
      post('/v1/depots/d1/heartbeat', { activeTransfers: 0, draining: false, links: [], sizes: [] }, SIGNED),
      post('/v1/depots/d1/follow-ups', { ticket: 'a.b.c', url: 'http://popular.files.example/x' }, SIGNED),
      'GET /help HTTP/1.1\r\nHost: master\r\nAccept: text/html\r\n\r\n',
      'GET /assets/../../package.json HTTP/1.1\r\nHost: master\r\n\r\n',
      'GET /v1/status HTTP/1.1\r\nHost: master\r\n\r\n',
    ]),
};
