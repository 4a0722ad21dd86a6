import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DepotRelayRequest,
  formatGetPath,
  isRelayTarget,
  type LonghaulError,
  ok,
  parseRelayTarget,
  type RelayRequest,
  type Result,
  refuseThrown,
} from '@longhaul/shared';
import { sendBackToMaster, sendRefusal } from '../entry/refusal.ts';
import type { OpenTicket } from '../entry/target.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { type BeginComponents, beginTransfer } from './begin-transfer.ts';
import { type EnterComponents, type Entered, enterStepwise } from './enter-stepwise.ts';
import { OriginMemory } from './origin-memory.ts';
import { type ServeSuccessorComponents, serveSuccessor } from './serve-successor.ts';
import { type Step, stepOf } from './step-of.ts';
import { WaitingTransfers } from './waiting-transfers.ts';

type EnterQuestion = [
  ticket: OpenTicket,
  asked: DepotRelayRequest,
  request: IncomingMessage,
  signal: AbortSignal,
];

/** What the parts of this folder have in common and make among themselves. */
type OwnParts = 'waiting' | 'memory' | 'isPortOf' | 'onHandoverFailed' | 'ensureKnown';

interface StepwiseInit
  extends Omit<BeginComponents, OwnParts>,
    Omit<ServeSuccessorComponents, OwnParts>,
    Omit<EnterComponents, OwnParts> {
  readonly gate: TicketGate;
  /** Transfers that may wait at once, and for how long. */
  readonly maxWaiting: number;
  readonly waitMs: number;
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
}

/** A depot's part in stepwise signalling. */
export interface Stepwise {
  /** Serves a request for the exit depot, for one between, or from a successor; `false` if it is none of these. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  /** The last step, at the entry depot; see `enterStepwise`. */
  readonly enter: (...question: EnterQuestion) => Promise<Entered>;
  /** Transfers that wait for a successor. */
  readonly waitingCount: () => number;
  /** Drops what waits: nobody can come for it any more. */
  readonly close: () => void;
}

/** Makes a depot's part in stepwise signalling. */
export function createStepwise(init: StepwiseInit): Stepwise {
  const { ownId, findDepot, observe, waitMs } = init;
  const waiting = new WaitingTransfers({
    maxWaiting: init.maxWaiting,
    waitMs,
    onExpired: ({ jobId, role }) =>
      observe({
        type: 'handover',
        jobId,
        role,
        outcome: 'expired',
        bodyBytes: 0,
        seconds: waitMs / 1000,
      }),
  });
  const components: Components = {
    ...init,
    waiting,
    memory: new OriginMemory(),
    isPortOf: async (id, port) => (await findDepot(id))?.port === port,
    ensureKnown: async (id) => {
      await findDepot(id);
    },
    onHandoverFailed: ({ jobId }, { code, depot = ownId }) =>
      observe({ type: 'chain-failed', jobId, code, depot }),
  };
  return {
    serve: async (request, response) => {
      const read = await readStep(init, request);
      if (!read) return false;
      const done = read.step.ok
        ? await play(components, read.step.value, read.ticket, request, response).catch(refuseThrown)
        : read.step;
      if (!done.ok) refuseStep(init, read, request, response, done.error);
      return true;
    },
    enter: (...question) => enterStepwise(components, ...question),
    waitingCount: () => waiting.count,
    close: () => waiting.close(),
  };
}

type Components = BeginComponents & ServeSuccessorComponents & EnterComponents;

interface ReadStep {
  readonly ticket: OpenTicket;
  readonly asked: RelayRequest;
  readonly step: Result<Step>;
}

/** The step that a request is, if it is one; everything else is refused where all requests are. */
async function readStep(
  { ownId, gate }: StepwiseInit,
  request: IncomingMessage,
): Promise<ReadStep | undefined> {
  const { url: target = '', method, headers } = request;
  if (!isRelayTarget(target) || (method !== 'GET' && method !== 'HEAD')) return undefined;
  if (headers['service-worker'] !== undefined) return undefined;
  const parsed = parseRelayTarget(target);
  if (!parsed.ok) return undefined;
  const opened = await gate.open(parsed.value.ticket, request.socket).catch(refuseThrown);
  if (!opened.ok || opened.value.kind !== 'stepwise') return undefined;
  const ticket = { text: parsed.value.ticket, claims: opened.value };
  const step = stepOf(ticket.claims, ownId, parsed.value);
  if (!step.ok) return { ticket, asked: parsed.value, step };
  return step.value ? { ticket, asked: parsed.value, step: ok(step.value) } : undefined;
}

function play(
  components: Components,
  step: Step,
  ticket: OpenTicket,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Result<void>> {
  return step.role === 'giver'
    ? serveSuccessor(components, step, ticket, request, response)
    : beginTransfer(components, step, ticket, request, response);
}

function refuseStep(
  { ownId, observe, masterUrl }: StepwiseInit,
  { ticket, asked }: ReadStep,
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
): void {
  const { code, detail, depot = ownId } = error;
  observe({ type: 'refusal', code, jobId: ticket.claims.jobId, depot, detail });
  const master = masterUrl();
  const isResume = request.headers.range !== undefined;
  if (response.headersSent) resetConnection(request.socket);
  else if (code === 'ticket-start-over' && asked.from === 'origin' && !isResume && master !== undefined)
    sendBackToMaster(response, master + formatGetPath(asked.url, { signalling: 'stepwise' }), ownId);
  else sendRefusal(request, response, error, ownId);
}
