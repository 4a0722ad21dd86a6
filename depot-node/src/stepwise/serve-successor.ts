import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { HEADERS, LonghaulError, type Result, refuse } from '@longhaul/shared';
import { refusalEvent } from '../door/refusal.ts';
import { downstreamLeg, upstreamLeg } from '../estimates/leg-sampler.ts';
import type { ProofChecker } from '../legs/caller-proof.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { HandoverOutcome } from '../plane/events.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { handOver, refuseHandover } from './hand-over.ts';
import type { OriginMemory } from './origin-memory.ts';
import type { Step } from './step-of.ts';
import { letGo, type WaitingTransfer, type WaitingTransfers, wantedBy } from './waiting-transfers.ts';

export interface ServeSuccessorComponents {
  readonly plane: DataPlane;
  readonly waiting: WaitingTransfers;
  readonly memory: OriginMemory;
  readonly checker: ProofChecker;
  /** Asks the master for a fresh directory when `depot` is not in it. */
  readonly ensureKnown: (depot: string) => Promise<void>;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
}

type Giver = Extract<Step, { readonly role: 'giver' }>;

/** Hands what waits over to the successor that proves to be it. Gives why not, where nothing has been answered. */
export async function serveSuccessor(
  components: ServeSuccessorComponents,
  step: Giver,
  ticket: OpenTicket,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Result<void>> {
  const { checker, ensureKnown, fromDepot, memory, waiting, plane } = components;
  const { steadyMs, observe, ownId } = plane;
  const { claims } = ticket;
  const chain = claims.chains[0] ?? [];
  const proof = request.headers[HEADERS.proof];
  if (typeof proof !== 'string') return refuse('caller-not-proved', 'there is no proof');
  await ensureKnown(chain[step.place - 1] ?? '');
  const shown = { text: proof, from: request.socket.remoteAddress ?? '' };
  const proved = checker.check(shown, ticket.text, 0, chain, step.place);
  if (!proved.ok) return proved;
  // It went while the master was asked who it is: what waits is for its next question.
  if (request.socket.destroyed) return { ok: true, value: undefined };
  fromDepot(request.socket);
  const transfer = waiting.take(claims.jobId, step.place, wantedBy(request, step.asked.path));
  if (!transfer) {
    const error = new LonghaulError('handover-missing');
    observe(refusalEvent(error, claims.jobId, ownId));
    refuseHandover(request, response, { error, url: memory.recall(claims.urlHash) }, ownId);
    return { ok: true, value: undefined };
  }
  const started = steadyMs();
  const given = await giveTo(plane, transfer, ticket, request, response).finally(transfer.admission.release);
  observe({
    type: 'handover',
    jobId: claims.jobId,
    role: transfer.role,
    ...given,
    seconds: (steadyMs() - started) / 1000,
  });
  return { ok: true, value: undefined };
}

interface Given {
  readonly outcome: HandoverOutcome;
  readonly bodyBytes: number;
}

async function giveTo(
  plane: DataPlane,
  transfer: WaitingTransfer,
  ticket: OpenTicket,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Given> {
  const { ownId, watch } = plane;
  const { abort, held: coming, admission, place } = transfer;
  const { stop } = admission;
  response.once('close', abort);
  const held = await coming;
  response.off('close', abort);
  if (response.destroyed || stop.aborted) {
    letGo(held);
    resetConnection(request.socket);
    return { outcome: 'successor-left', bodyBytes: 0 };
  }
  if (!held.ok) {
    refuseHandover(request, response, held, ownId);
    return { outcome: 'refused', bodyBytes: 0 };
  }
  const chain = ticket.claims.chains[0] ?? [];
  const legs = [
    watch(request.socket, downstreamLeg(chain, place)),
    watch(held.answer.connection.stream, upstreamLeg(chain, place, held.url.host)),
  ];
  const leaveUplink = plane.joinUplink?.(request.socket, { jobId: admission.job.id, legClass: 'depot' });
  let bodyBytes = 0;
  try {
    const outcome = await handOver(held, response, plane, {
      jobId: admission.job.id,
      stop,
      onBytes: (bytes) => {
        bodyBytes += bytes;
        admission.note(bytes);
      },
    });
    return { outcome, bodyBytes };
  } catch (failure) {
    letGo(held);
    throw failure;
  } finally {
    leaveUplink?.();
    for (const leg of legs) leg.stop();
  }
}
