import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { HEADERS, LonghaulError, type Result, refuse } from '@longhaul/shared';
import type { SendOptions } from '../entry/send-part.ts';
import type { OpenTicket } from '../entry/target.ts';
import type { HandoverOutcome, Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import { downstreamLeg, type LegSampler, upstreamLeg } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { ProofChecker } from '../tunnel/caller-proof.ts';
import { wantedBy } from './conditions.ts';
import { handOver, refuseHandover } from './hand-over.ts';
import { letGo } from './held-answer.ts';
import type { OriginMemory } from './origin-memory.ts';
import type { Step } from './step-of.ts';
import type { WaitingTransfer, WaitingTransfers } from './waiting-transfers.ts';

export interface ServeSuccessorComponents extends Omit<SendOptions, 'signal'> {
  readonly ownId: string;
  readonly waiting: WaitingTransfers;
  readonly memory: OriginMemory;
  readonly checker: ProofChecker;
  /** Asks the master for a fresh directory when `depot` is not in it. */
  readonly ensureKnown: (depot: string) => Promise<void>;
  /** Gives an accepted connection the options of those from depots. */
  readonly fromDepot: (connection: Duplex) => void;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  readonly observe: Observe;
  readonly nowMs: () => number;
  readonly shutdown: AbortSignal;
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
  const { checker, ensureKnown, fromDepot, memory, waiting, ownId, nowMs } = components;
  const { claims } = ticket;
  const chain = claims.chains[0] ?? [];
  const proof = request.headers[HEADERS.proof];
  if (typeof proof !== 'string') return refuse('caller-not-proved', 'there is no proof');
  await ensureKnown(chain[step.place - 1] ?? '');
  const proved = checker.check(proof, ticket.text, 0, chain, step.place);
  if (!proved.ok) return proved;
  fromDepot(request.socket);
  const transfer = waiting.take(claims.jobId, step.place, wantedBy(request, step.asked.path));
  if (!transfer) {
    const error = new LonghaulError('handover-missing');
    const { jobId } = claims;
    components.observe({ type: 'refusal', code: error.code, jobId, depot: ownId, detail: undefined });
    refuseHandover(request, response, { error, url: memory.recall(claims.urlHash) }, ownId);
    return { ok: true, value: undefined };
  }
  const started = nowMs();
  const given = await giveTo(components, transfer, ticket, request, response).finally(
    transfer.admission.release,
  );
  components.observe({
    type: 'handover',
    jobId: claims.jobId,
    role: transfer.role,
    ...given,
    seconds: (nowMs() - started) / 1000,
  });
  return { ok: true, value: undefined };
}

interface Given {
  readonly outcome: HandoverOutcome;
  readonly bodyBytes: number;
}

async function giveTo(
  components: ServeSuccessorComponents,
  transfer: WaitingTransfer,
  ticket: OpenTicket,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Given> {
  const { ownId, shutdown, watch } = components;
  const { abort, held: coming, admission, place } = transfer;
  response.once('close', abort);
  const held = await coming;
  response.off('close', abort);
  if (response.destroyed || shutdown.aborted) {
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
    watch(held.answered.answer.socket, upstreamLeg(chain, place)),
  ];
  const leaveUplink = components.joinUplink?.(request.socket, { jobId: admission.job.id, legClass: 'depot' });
  let bodyBytes = 0;
  try {
    const outcome = await handOver(held, response, {
      ...components,
      depotId: ownId,
      jobId: admission.job.id,
      signal: shutdown,
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
