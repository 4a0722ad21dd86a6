import { randomBytes } from 'node:crypto';
import { formatLegsTarget, formatLinkTestTarget, formatNoticeTarget, HEADERS } from '@longhaul/shared';
import type { Attack } from '../attack.ts';
import { type Ground, requestFor, type Ticketed } from '../attacker/ground.ts';
import { pace } from '../attacker/pace.ts';
import { readHead, verdictOf } from '../attacker/read-answer.ts';

const PER_SECOND = 500;
const HOST = 'popular.files.example';

/** What may be forged, and where; each is fresh and well-formed, so that its signature is what is wrong. */
const KINDS = ['notice', 'legs', 'link-test', 'tunnel', 'heartbeat', 'follow-up', 'order', 'ticket'] as const;
const AT_MASTER: ReadonlySet<string> = new Set(['heartbeat', 'follow-up', 'order', 'ticket']);

export const FORGED_SIGNATURES: Attack = {
  name: 'forged-signatures',
  does: `sends ${PER_SECOND} forged signatures a second to a depot and the master: notices, questions, proofs, heartbeats, follow-ups, an operator's orders, tickets`,
  promise: 'one network has some hundred of them checked, and the others are served meanwhile',
  worlds: ['splice'],
  // A short strike uses up no budget on a busy machine.
  quick: [],
  meets: ['signature-checks-spent', 'master-busy'],
  strike: async (ground) => {
    const download = await ground.plan(`http://${HOST}${ground.path(1000)}`, { via: ['d3', 'd2', 'd1'] });
    if (!download) throw new Error('the master gave no plan');
    const keyId = keyOf(download.ticket);
    let turn = 0;
    const sendNext = () => {
      const kind = KINDS[turn % KINDS.length] ?? 'notice';
      turn += 1;
      ground.tally.case();
      void send(ground, kind, forge(kind, download, keyId));
    };
    await pace(PER_SECOND, ground.signal, sendNext);
  },
};

async function send(ground: Ground, kind: (typeof KINDS)[number], text: string): Promise<void> {
  const socket = await ground.open(AT_MASTER.has(kind) ? 'master' : 'd2');
  socket.write(text);
  const verdict = verdictOf(await readHead(socket));
  socket.destroy();
  ground.tally.answer(`${kind}: ${verdict}`);
  if (verdict === 'served' || verdict === 'internal')
    ground.tally.broke('a forged signature opens nothing', `${kind} is ${verdict}: ${text}`);
}

function forge(kind: (typeof KINDS)[number], { ticket }: Ticketed, keyId: string): string {
  const signature = randomBytes(64).toString('base64url');
  const timeMs = Date.now();
  const word = { timeMs, keyId, signature };
  const proof = `${HEADERS.proof}: d1 ${timeMs} ${signature}`;
  switch (kind) {
    case 'notice':
      return requestFor({ target: formatNoticeTarget({ next: 'd1', ...word }) });
    case 'legs':
      return requestFor({ target: formatLegsTarget({ jobId: 'job-1', ...word }) });
    case 'link-test':
      return requestFor({ target: formatLinkTestTarget(1000) }, [proof]);
    case 'tunnel':
      return [
        `CONNECT ${HOST}:80 HTTP/1.1`,
        `Host: ${HOST}:80`,
        `${HEADERS.ticket}: ${ticket}`,
        `${HEADERS.chain}: 0`,
        proof,
        '',
        '',
      ].join('\r\n');
    case 'heartbeat':
      return post('/v1/depots/d1/heartbeat', '{}', timeMs, signature);
    case 'follow-up':
      return post('/v1/depots/d1/follow-ups', '{}', timeMs, signature);
    case 'order':
      return post('/v1/enrolment', '{}', timeMs, signature);
    case 'ticket':
      return post('/v1/legs', JSON.stringify({ ticket: ticket.replace(/[^.]*$/, signature) }));
  }
}

function post(path: string, body: string, timeMs?: number, signature?: string): string {
  const signed =
    timeMs === undefined
      ? []
      : [
          `${HEADERS.time}: ${timeMs}`,
          `${HEADERS.sequence}: AAAAAAAAAAAAAAAA 1`,
          `${HEADERS.signature}: ${signature}`,
        ];
  const head = [`POST ${path} HTTP/1.1`, 'Host: master', `Content-Length: ${body.length}`, ...signed];
  return [...head, '', body].join('\r\n');
}

/** Under which a ticket is signed. */
function keyOf(ticket: string): string {
  const header = JSON.parse(Buffer.from(ticket.split('.')[0] ?? '', 'base64url').toString()) as {
    kid: string;
  };
  return header.kid;
}
