import { encodeBase64url, type JoinToken, OVERLAY_KEY } from '@longhaul/shared';
import { overlayKeyOf, signRequest } from '@longhaul/shared/service';
import {
  ENROLMENT_PATH,
  type EnrolmentAnswer,
  type EnrolmentRequest,
  enrolmentAnswerSchema,
} from '../enrolment/enrolment-requests.ts';
import { newJoinToken } from '../enrolment/new-join-token.ts';
import type { TestMaster } from './start-master.ts';

/** An hour. */
const TOKEN_LIFE_MS = 3_600_000;

let requests = 0;

/** What an operator asks a master for; rejects with its code. `signer` is another master whose key is taken. */
export async function askOperatorsMaster(
  master: TestMaster,
  asked: EnrolmentRequest,
  signer = master,
): Promise<EnrolmentAnswer> {
  const body = JSON.stringify(asked);
  requests += 1;
  const stamp = { timeMs: master.clock.nowMs, epoch: 'operator-0001', sequence: requests };
  const sign = (text: string) => encodeBase64url(signer.signingKey.sign(text));
  const signed = signRequest({ method: 'POST', path: ENROLMENT_PATH, stamp, body }, sign);
  const headers = { ...signed, 'longhaul-proofs': OVERLAY_KEY };
  const answer = await fetch(master.url + ENROLMENT_PATH, { method: 'POST', body, headers });
  if (answer.status !== 200) throw new Error(answer.headers.get('longhaul-error') ?? '');
  return enrolmentAnswerSchema.parse(await answer.json());
}

/** What a master says of a token. */
export async function tokenState(master: TestMaster, { id }: JoinToken): Promise<string | undefined> {
  const { tokens } = await askOperatorsMaster(master, { do: 'list-tokens' });
  return tokens.find((token) => token.id === id)?.state;
}

/** Has a master make a join token. */
export async function createToken(
  master: TestMaster,
  options: { site?: string; depot?: string; lifeMs?: number } = {},
): Promise<JoinToken> {
  const { token, publicKey } = newJoinToken(overlayKeyOf(master.secret).publicKey);
  const described = { id: token.id, publicKey, lifeMs: TOKEN_LIFE_MS, ...options };
  await askOperatorsMaster(master, { do: 'create-token', token: described });
  return token;
}
