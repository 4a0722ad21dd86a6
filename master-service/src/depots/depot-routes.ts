import type { IncomingMessage } from 'node:http';
import {
  DEPOT_ID,
  followUpRequestSchema,
  heartbeatRequestSchema,
  isEnd,
  joinRequestSchema,
  LonghaulError,
  MAX_BODY_BYTES,
  newKeyRequestSchema,
  newKeyText,
  type RequestStamp,
  type Result,
  refuse,
  registerRequestSchema,
} from '@longhaul/shared';
import { type DepotSources, verifierFor } from '@longhaul/shared/service';
import { type Request, type Response, Router } from 'express';
import type { OverlayClock } from '../clock/overlay-clock.ts';
import {
  answersBy,
  type BoundedChecks,
  checkEnrolment,
  type ReceivedRequest,
  readRequest,
} from '../enrolment/depot-authentication.ts';
import type { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import type { EmitEvent } from '../events.ts';
import { parseBody, unwrap } from '../http/read-body.ts';
import type { ClientRtts } from '../measuring/client-rtts.ts';
import { DepotLines } from './depot-lines.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DepotService } from './depot-service.ts';
import type { DownChecks } from './down-checks.ts';
import type { HeartbeatRoom } from './heartbeat-room.ts';

const REGISTRATION_PATH = '/v1/depots';
const TRIAL_PATH = '/v1/depots/trial';
const JOIN_PATH = '/v1/depots/join';

/** A ticket and a URL, which JSON may make longer. */
const MOST_FOLLOW_UP_BYTES = 65_536;

interface DepotRoutesInit {
  readonly service: DepotService;
  readonly registry: DepotRegistry;
  readonly downChecks: Pick<DownChecks, 'suspect'>;
  readonly heartbeatRoom: HeartbeatRoom;
  readonly sources: DepotSources;
  readonly checks: BoundedChecks;
  readonly enrolment: Pick<EnrolmentBook, 'keyOf' | 'tokens' | 'join' | 'renewKey'>;
  readonly enrolmentSecret: string;
  /** Whether who has the secret may register. */
  readonly takesSecret: boolean;
  readonly clientRtts: Pick<ClientRtts, 'noteDepot'>;
  readonly clock: OverlayClock;
  readonly emit: EmitEvent;
}

/**
 * `POST /v1/depots`, `/v1/depots/trial`, `/v1/depots/join`, `/v1/depots/<id>/heartbeat`,
 * `/v1/depots/<id>/follow-ups`, `/v1/depots/<id>/key`. Bodies are read raw, because MACs and signatures are
 * over their bytes. Every 2xx answer proves itself.
 */
export function depotRoutes({
  service,
  registry,
  downChecks,
  heartbeatRoom,
  sources,
  checks,
  enrolment,
  enrolmentSecret,
  takesSecret,
  clientRtts,
  clock,
  emit,
}: DepotRoutesInit): Router {
  const now = () => clock.now();
  const router = Router();
  const lines = new DepotLines((id) => downChecks.suspect(id));

  /** Tells of refusals: a depot that is set up wrongly shall be seen at the master, too. */
  const post = (path: string, handle: (request: Request, response: Response) => Promise<void>): void => {
    router.post(path, async (request, response) => {
      try {
        await handle(request, response);
      } catch (thrown) {
        if (thrown instanceof LonghaulError) {
          const depot = DEPOT_ID.test(idOf(request)) ? { depot: idOf(request) } : {};
          emit({
            type: 'depot-refused',
            code: thrown.code,
            ...depot,
            address: request.socket.remoteAddress ?? '',
          });
        }
        throw thrown;
      }
    });
  };

  const answer = answersBy(enrolmentSecret);

  /** Signed by the key that the id is registered with, fresh, and here for the first time. */
  const authenticate = (request: ReceivedRequest, id: string): Result<RequestStamp> => {
    const record = registry.record(id);
    if (!record) return refuse('depot-unknown');
    const { publicKey } = record;
    if (clock.isInDoubt) {
      const signed = checks.check(request, publicKey, request.claims.stamp?.timeMs ?? now());
      if (signed.ok) clock.hear(id, signed.value.timeMs);
    }
    const stamp = checks.check(request, publicKey, now());
    if (!stamp.ok) return stamp;
    const admitted = registry.admit(id, stamp.value, now());
    if (admitted.ok) return stamp;
    // Who has recorded a request can send it without end.
    checks.noteVain(request.connection);
    return admitted;
  };

  /**
   * A registration by somebody who has the key, and the secret unless the key has joined with a token; not
   * looked at any further.
   */
  const readRegistration = async (request: IncomingMessage, path: string) => {
    const sent = await readRequest(request, path);
    const hasSecret = sent.claims.enrolment !== undefined;
    if (hasSecret) {
      unwrap(checkEnrolment(sent, enrolmentSecret, now()));
      // No stranger.
      checks.believe(sent.connection);
    }
    const registration = unwrap(parseBody(registerRequestSchema, sent.body));
    // Before the signature: strangers cost nothing but a look-up.
    const hasJoined = enrolment.keyOf(registration.id) === registration.publicKey;
    if (!hasJoined && !(hasSecret && takesSecret)) throw new LonghaulError('depot-not-joined');
    const stamp = unwrap(checks.check(sent, registration.publicKey, now()));
    return { sent, registration, stamp };
  };

  post(REGISTRATION_PATH, async (request, response) => {
    const { sent, registration, stamp } = await readRegistration(request, REGISTRATION_PATH);
    answer(response, sent, unwrap(await service.register(registration, stamp, now())));
  });

  post(TRIAL_PATH, async (request, response) => {
    const { sent, registration } = await readRegistration(request, TRIAL_PATH);
    answer(response, sent, await service.tryRegistration(registration, now()));
  });

  post(JOIN_PATH, async (request, response) => {
    const sent = await readRequest(request, JOIN_PATH);
    const joining = unwrap(parseBody(joinRequestSchema, sent.body));
    unwrap(checks.checkToken(sent, enrolment.tokens.keyOf(joining.token)));
    unwrap(checks.check(sent, joining.publicKey, now()));
    const { id, publicKey } = joining;
    if (isEnd(id)) throw new LonghaulError('bad-request', { detail: `${id} cannot be a depot's id` });
    unwrap(await enrolment.join(joining, now()));
    answer(response, sent, { id, publicKey });
  });

  post('/v1/depots/:id/heartbeat', async (request, response) => {
    const id = idOf(request);
    const sent = await checks.read(request, request.originalUrl, MAX_BODY_BYTES);
    const stamp = unwrap(authenticate(sent, id));
    // Refused rather than let go unheard: a depot keeps what it has to report until that is taken.
    if (!heartbeatRoom.take(id, sent.body.length, now()))
      throw new LonghaulError('master-busy', { detail: `too many heartbeats of ${id}` });
    const heartbeat = unwrap(parseBody(heartbeatRequestSchema, sent.body));
    const isHere = registry.comesFrom(id, sent.from, stamp, now());
    const heard = unwrap(service.hear(id, heartbeat, stamp, now()));
    lines.note(id, request);
    if (isHere) {
      sources.noteSent(id, sent.from, now());
      clientRtts.noteDepot(id, request.socket);
    }
    answer(response, sent, heard);
  });

  post('/v1/depots/:id/follow-ups', async (request, response) => {
    const id = idOf(request);
    const sent = await checks.read(request, request.originalUrl, MOST_FOLLOW_UP_BYTES);
    unwrap(authenticate(sent, id));
    const followUp = unwrap(parseBody(followUpRequestSchema, sent.body));
    answer(response, sent, unwrap(service.followUp(id, followUp, now())));
  });

  post('/v1/depots/:id/key', async (request, response) => {
    const id = idOf(request);
    const sent = await checks.read(request, request.originalUrl);
    const { publicKey, signature } = unwrap(parseBody(newKeyRequestSchema, sent.body));
    const before = enrolment.keyOf(id);
    if (before === undefined) throw new LonghaulError('depot-not-joined');
    // Who asks again has the new key already: the answer was lost.
    const isAgain = before === publicKey && checks.check(sent, publicKey, now()).ok;
    if (!isAgain) {
      unwrap(checks.check(sent, before, now()));
      const text = Buffer.from(newKeyText(id, before, publicKey));
      const isOwned = verifierFor(publicKey)?.(text, Buffer.from(signature, 'base64url')) ?? false;
      if (!isOwned) throw new LonghaulError('depot-signature-wrong', { detail: 'of the new key' });
    }
    unwrap(await enrolment.renewKey(id, publicKey, now()));
    answer(response, sent, { id, publicKey });
  });

  return router;
}

/** The id in the path; empty where there is none. */
function idOf({ params }: Request): string {
  return String(params.id ?? '');
}
