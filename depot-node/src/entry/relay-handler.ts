import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asLonghaulError,
  formatGetPath,
  type LonghaulError,
  type OriginUrl,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { JobTable } from '../jobs/job-table.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { Entered } from '../stepwise/enter-stepwise.ts';
import type { Stepwise } from '../stepwise/stepwise.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { watchLeaving } from './client-leaving.ts';
import { type OpenedRequest, openRequest } from './open-request.ts';
import { abandon, fetchForClient } from './origin-fetch.ts';
import { sendBackToMaster, sendRefusal } from './refusal.ts';
import { refusalEvent } from './refusal-event.ts';
import { type ServeComponents, serveDownload } from './serve-download.ts';

export interface RelayHandlerComponents extends ServeComponents {
  readonly gate: TicketGate;
  readonly jobs: JobTable;
  /** The last step of stepwise signalling: what the predecessor holds. */
  readonly enterStepwise: Stepwise['enter'];
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
}

/** Serves a relay request: this depot is the entry depot of the ticket's chain. */
export function createRelayHandler(components: RelayHandlerComponents) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { ownId, observe } = components;
    const opened = await openRequest(components, request).catch(refuseThrown);
    if (!opened.ok) {
      refuseRequest(components, request, response, opened.error);
      return;
    }
    const { ticket, asked } = opened.value;
    const url = asked.from === 'origin' ? asked.url : undefined;
    const arrival = arrivalOf(request);
    const admission = components.jobs.admit(ticket.claims, arrival);
    if (!admission.ok) {
      refuseRequest(components, request, response, admission.error, ticket.claims, url);
      return;
    }
    const { job } = admission.value;
    try {
      const entered = await enter(components, opened.value, request, response);
      if (entered)
        await serveDownload(
          { ...components, fetch: fetchForClient(components.fetch, arrival.prefix) },
          request,
          response,
          { ticket, url: entered.url },
          admission.value,
          entered.first,
        );
    } catch (thrown) {
      const failure = asLonghaulError(thrown);
      observe(refusalEvent(failure, job.id, ownId));
      if (response.headersSent) resetConnection(request.socket);
      else sendRefusal(request, response, failure, ownId, job.hasWorked);
    } finally {
      admission.value.release();
    }
  };
}

function refuseRequest(
  { ownId, observe, masterUrl }: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  claims?: TicketClaims,
  url?: OriginUrl,
): void {
  observe({ type: 'refusal', code: error.code, jobId: claims?.jobId, depot: ownId, detail: error.detail });
  const master = masterUrl();
  const isResume = request.headers.range !== undefined;
  if (error.code === 'ticket-start-over' && !isResume && url && master !== undefined) {
    sendBackToMaster(response, `${master}${formatGetPath(url)}`, ownId);
  } else {
    sendRefusal(request, response, error, ownId);
  }
}

/** Learns the origin's URL, and takes the first answer where a predecessor holds one; `undefined`: the client has left. */
async function enter(
  components: RelayHandlerComponents,
  { ticket, asked }: OpenedRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Entered | undefined> {
  if (asked.from === 'origin') return { url: asked.url, first: undefined };
  const { left, stop } = watchLeaving(response);
  const signal = AbortSignal.any([left, components.shutdown]);
  const entered = await components.enterStepwise(ticket, asked, request, signal).catch((thrown) => {
    if (left.aborted) return undefined;
    throw thrown;
  });
  stop();
  if (!left.aborted) return entered;
  if (entered?.first) abandon(entered.first.answer);
  return undefined;
}
