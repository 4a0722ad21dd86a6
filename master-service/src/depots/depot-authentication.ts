import { CLOCK_SKEW_SECONDS, ok, type RequestStamp, type Result, refuse } from '@longhaul/shared';
import { isEnrolled, isSignedBy, type RequestClaims, type StampedRequest } from '@longhaul/shared/service';

const CLOCK_DETAIL = "time or sequence are missing, or the time is too far off the master's clock";

/** A request as it came: what it is, and what it says of itself. */
export interface DepotRequest extends Omit<StampedRequest, 'stamp'> {
  readonly claims: RequestClaims;
}

/** Checks that a registration is fresh and made with the enrolment secret; `enrolment-refused` when not. */
export function checkEnrolment(request: DepotRequest, secret: string, nowMs: number): Result<RequestStamp> {
  const { stamp, enrolmentMac } = request.claims;
  if (!stamp || !isFresh(stamp, nowMs)) return refuse('enrolment-refused', CLOCK_DETAIL);
  return isEnrolled({ ...request, stamp }, enrolmentMac, secret) ? ok(stamp) : refuse('enrolment-refused');
}

/** Checks that a request is fresh and signed by this key; `depot-signature-wrong` when not. */
export function checkSignature(
  request: DepotRequest,
  publicKey: string,
  nowMs: number,
): Result<RequestStamp> {
  const { stamp, signature } = request.claims;
  if (!stamp || !isFresh(stamp, nowMs)) return refuse('depot-signature-wrong', CLOCK_DETAIL);
  const isSigned = isSignedBy({ ...request, stamp }, signature, publicKey);
  return isSigned ? ok(stamp) : refuse('depot-signature-wrong');
}

function isFresh({ timeMs }: RequestStamp, nowMs: number): boolean {
  return Math.abs(nowMs - timeMs) <= CLOCK_SKEW_SECONDS * 1000;
}
