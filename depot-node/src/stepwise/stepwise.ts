import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DepotRelayRequest, Result } from '@longhaul/shared';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { type BeginComponents, beginTransfer } from './begin-transfer.ts';
import { type EnterComponents, type Entered, enterStepwise } from './enter-stepwise.ts';
import { OriginMemory } from './origin-memory.ts';
import { type ServeSuccessorComponents, serveSuccessor } from './serve-successor.ts';
import type { Step } from './step-of.ts';
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
  /** Transfers that may wait at once, and for how long. */
  readonly maxWaiting: number;
  readonly waitMs: number;
}

/** A depot's part in stepwise signalling. */
export interface Stepwise {
  /**
   * Plays the part of the exit depot, of one between, or of the one that hands over. Gives why not, where
   * nothing was answered.
   */
  readonly play: (
    step: Step,
    ticket: OpenTicket,
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<Result<void>>;
  /** The last step, at the entry depot; see `enterStepwise`. */
  readonly enter: (...question: EnterQuestion) => Promise<Entered>;
  /** Transfers that wait for a successor. */
  readonly waitingCount: () => number;
  /** Drops what waits: nobody can come for it any more. */
  readonly close: () => void;
}

/** Makes a depot's part in stepwise signalling. */
export function createStepwise(init: StepwiseInit): Stepwise {
  const { findDepot, plane, waitMs } = init;
  const waiting = new WaitingTransfers({
    maxWaiting: init.maxWaiting,
    waitMs,
    onExpired: ({ jobId, role }) =>
      plane.observe({
        type: 'handover',
        jobId,
        role,
        outcome: 'expired',
        bodyBytes: 0,
        seconds: waitMs / 1000,
      }),
  });
  const components: BeginComponents & ServeSuccessorComponents & EnterComponents = {
    ...init,
    waiting,
    memory: new OriginMemory(),
    isPortOf: async (id, port) => (await findDepot(id))?.port === port,
    ensureKnown: async (id) => {
      await findDepot(id);
    },
    onHandoverFailed: ({ jobId }, { code, depot = plane.ownId }) =>
      plane.observe({ type: 'chain-failed', jobId, code, depot }),
  };
  return {
    play: (step, ...request) =>
      step.role === 'giver'
        ? serveSuccessor(components, step, ...request)
        : beginTransfer(components, step, ...request),
    enter: (...question) => enterStepwise(components, ...question),
    waitingCount: () => waiting.count,
    close: () => waiting.close(),
  };
}
