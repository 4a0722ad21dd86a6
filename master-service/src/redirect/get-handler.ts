import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asLonghaulError,
  type Chain,
  clientPrefix,
  DIRECT_FRAGMENT,
  directLocation,
  HEADERS,
  LonghaulError,
  type OriginUrl,
  parseGetTarget,
} from '@longhaul/shared';
import { isRedirectedAsOfOld, mayHaveAddOn } from '@longhaul/shared/service';
import type { SentClient } from '../depots/way-teller.ts';
import type { EmitEvent } from '../events.ts';
import { answerRefusal, type Refused } from '../http/answer-refusal.ts';
import { REDIRECT_HEADERS } from '../http/security-headers.ts';
import type { ClientRtts } from '../measuring/client-rtts.ts';
import type { OverloadGuard } from '../overload/overload-guard.ts';
import type { IssuedPlan } from '../planning/plans/issued-plan.ts';
import type { PlanService } from '../planning/plans/plan-service.ts';
import { ShareUsedUp } from '../policy/rate-caps.ts';
import { duplicateLinks } from './duplicate-links.ts';
import { withPlainOptions } from './plain-options.ts';
import { withRightForm } from './right-form.ts';
import { typedLink } from './typed-link.ts';

interface GetHandlerInit {
  readonly plans: PlanService;
  readonly clientRtts: Pick<ClientRtts, 'noteClient'>;
  readonly overload: Pick<OverloadGuard, 'takePlan'>;
  /** Where people find this master; empty where its configuration does not say. */
  readonly masterUrl: () => string;
  readonly now: () => number;
  readonly emit: EmitEvent;
  /**
   * Called when a client has been sent to the first depot of a chain; direct has none. `sent` is there when
   * it has got a ticket just now.
   */
  readonly onRedirected: (chain: Chain, sent?: SentClient) => void;
}

/** What ffmpeg, mpv and media elements ask for when they want the whole. */
const FROM_BEGINNING = 'bytes=0-';
/** What `curl -C -` and `wget -c` ask for. Who fetches parts beside each other says where they end. */
const RESUME = /^bytes=[1-9]\d*-$/;

/**
 * Handles `/get/...` and `/get?url=...` on the raw request target, before any router could change a byte of it. Answers
 * 307 to the entry depot or to the origin, or a refusal; it never throws.
 */
export function createGetHandler(init: GetHandlerInit) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const target = request.url ?? '';
    try {
      redirect(init, request, response, target);
    } catch (thrown) {
      const error = asLonghaulError(thrown);
      init.emit({ type: 'failed', error: thrown });
      if (response.headersSent) response.destroy();
      else answerRefusal(request, response, error, {}, init.masterUrl());
    }
  };
}

function redirect(
  { plans, clientRtts, overload, masterUrl, now, emit, onRedirected }: GetHandlerInit,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
): void {
  const refuse = (error: LonghaulError, refused: Refused): void => {
    emit({ type: 'refused', code: error.code });
    answerRefusal(request, response, error, refused, masterUrl());
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    refuse(new LonghaulError('method-not-allowed'), {});
    return;
  }
  const clientAddress = request.socket.remoteAddress ?? '';
  const { range } = request.headers;
  const isResume = range !== undefined && RESUME.test(range);
  // Parts belong to a download that was planned; who asks for the whole may be another machine behind the same address.
  const isPart = (range !== undefined && range !== FROM_BEGINNING) || request.method === 'HEAD';
  const again = isResume ? undefined : plans.again(clientAddress, target, isPart, now());
  if (again) {
    send(again, headersOf(again), undefined);
    return;
  }
  const plain = withPlainOptions(target);
  const parsed = parseGetTarget(plain);
  if (!parsed.ok) {
    refuse(withRightForm(parsed.error, plain), { typed: typedLink(plain) });
    return;
  }
  const { url, options } = parsed.value;
  clientRtts.noteClient(request.socket, now());
  if (!overload.takePlan(clientAddress)) {
    const location = plans.spare(url, clientAddress, now());
    if (location.ok) lead(location.value, url.host);
    else fail(location.error, url);
    return;
  }
  const plan = plans.plan({ target, url, options, kind: 'get', clientAddress, isResume, isPart }, now());
  if (plan.ok) send(plan.value, makeHeaders(plan.value), url);
  else fail(plan.error, url);

  /** A share may be used up by others behind the same address, or by pages that ask in a user's name. */
  function fail(error: LonghaulError, origin: OriginUrl): void {
    if (error instanceof ShareUsedUp) leadPast(error, origin);
    else refuse(error, { target: origin, typed: typedLink(plain) });
  }

  /** Sends the client to the origin, without a job. */
  function lead(location: string, host: string): void {
    emit({ type: 'plan-spared', host });
    answer([...PLAIN_HEADERS, 'Location', location, 'Content-Length', '0']);
  }

  /** The same, and what of the overlay it cannot have. */
  function leadPast({ code }: LonghaulError, origin: OriginUrl): void {
    emit({ type: 'refused', code });
    answer([
      ...PLAIN_HEADERS,
      HEADERS.error,
      code,
      'Location',
      directLocation(origin),
      'Content-Length',
      '0',
    ]);
  }

  function answer(headers: string[]): void {
    const program = request.headers['user-agent'];
    const status = isRedirectedAsOfOld(program) ? 302 : 307;
    response.writeHead(status, mayHaveAddOn(request.headers) ? headers : withoutFragment(headers));
    response.end();
  }

  function send(plan: IssuedPlan, headers: string[], origin: OriginUrl | undefined): void {
    const { decision, jobId, host, chain, aheadTicket: ticket } = plan;
    emit({ type: 'redirected', decision, jobId, host });
    answer(headers);
    const isNew = origin !== undefined && ticket !== undefined;
    onRedirected(chain, isNew ? { ticket, origin, network: clientPrefix(clientAddress) } : undefined);
  }
}

/** What every redirect carries. */
const PLAIN_HEADERS = [...REDIRECT_HEADERS, ['Cache-Control', 'no-store']].flat();

/** The heads of redirects to plans that were given more than once. */
const headersAgain = new WeakMap<IssuedPlan, string[]>();

function headersOf(plan: IssuedPlan): string[] {
  const known = headersAgain.get(plan);
  if (known) return known;
  const made = makeHeaders(plan);
  headersAgain.set(plan, made);
  return made;
}

/** The same head, but for the fragment that tells the add-on that a URL is not to be led through the master again. */
function withoutFragment(headers: string[]): string[] {
  return headers.map((value) =>
    value.endsWith(DIRECT_FRAGMENT) ? value.slice(0, -DIRECT_FRAGMENT.length) : value,
  );
}

function makeHeaders(plan: IssuedPlan): string[] {
  const links = duplicateLinks(plan.duplicates, plan.location);
  const location = ['Location', plan.location, 'Content-Length', '0'];
  const link = links === '' ? [] : ['Link', links];
  return [...PLAIN_HEADERS, ...link, HEADERS.job, plan.jobId, ...location];
}
