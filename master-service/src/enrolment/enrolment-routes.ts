import { LonghaulError, type Result, refuse } from '@longhaul/shared';
import { Router } from 'express';
import type { EmitEvent } from '../events.ts';
import { parseBody, unwrap } from '../http/read-body.ts';
import type { Signer } from '../keys/key-ring.ts';
import { answersBy, type BoundedChecks } from './depot-authentication.ts';
import type { EnrolmentBook } from './enrolment-book.ts';
import { ENROLMENT_PATH, type EnrolmentRequest, enrolmentRequestSchema } from './enrolment-requests.ts';
import { ReplayGuard } from './replay-guard.ts';

interface EnrolmentRoutesInit {
  readonly enrolment: EnrolmentBook;
  /** The key of a depot that is registered, whether it has joined or not. */
  readonly registeredKey: (depot: string) => string | undefined;
  /** Who can read this key is the operator of this master. */
  readonly keys: Signer;
  readonly enrolmentSecret: string;
  readonly checks: BoundedChecks;
  readonly now: () => number;
  readonly emit: EmitEvent;
}

/**
 * `POST /v1/enrolment`: makes, lists and takes back join tokens, and revokes depots' keys. Every answer lists
 * the tokens.
 */
export function enrolmentRoutes(init: EnrolmentRoutesInit): Router {
  const { enrolment, registeredKey, keys, enrolmentSecret, checks, now, emit } = init;
  const router = Router();
  const answer = answersBy(enrolmentSecret);
  const replays = new ReplayGuard();

  const carryOut = async (asked: EnrolmentRequest): Promise<Result<void>> => {
    if (asked.do === 'create-token') return enrolment.tokens.create(asked.token, now());
    if (asked.do === 'revoke-token') return enrolment.tokens.revoke(asked.token, now());
    if (asked.do === 'list-tokens') return { ok: true, value: undefined };
    const publicKey = enrolment.keyOf(asked.depot) ?? registeredKey(asked.depot);
    if (publicKey === undefined) return refuse('depot-unknown');
    return enrolment.revokeKey(asked.depot, publicKey, now());
  };

  router.post(ENROLMENT_PATH, async (request, response) => {
    const sent = await checks.read(request, ENROLMENT_PATH);
    const stamp = checks.check(sent, keys.current.publicKey, now());
    if (!stamp.ok) {
      emit({ type: 'depot-refused', code: stamp.error.code, address: sent.from });
      throw stamp.error;
    }
    if (!replays.take(stamp.value, now())) {
      checks.noteVain(sent.connection);
      throw new LonghaulError('request-replayed');
    }
    unwrap(await carryOut(unwrap(parseBody(enrolmentRequestSchema, sent.body))));
    answer(response, sent, { tokens: enrolment.tokens.list(now()) });
  });
  return router;
}
