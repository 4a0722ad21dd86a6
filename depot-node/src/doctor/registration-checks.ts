import { asLonghaulError, type ErrorCode, LonghaulError } from '@longhaul/shared';
import type { Trial } from './ask-master.ts';
import type { Finding } from './finding.ts';

const REGISTRATION = 'registration';
const ADDRESS = 'registered address';

/** What removes a refusal, where its sentence does not say it all. */
const CHANGES: Partial<Record<ErrorCode, string>> = {
  'enrolment-refused':
    "copy enrolment-secret from the master's stateDir to master.enrolmentSecretFile, and set both clocks",
  'depot-key-mismatch': "restore the depot's stateDir, or let it join by a token that names it",
  'depot-unreachable': 'open the port in firewall and NAT, or correct public.host and public.port',
  'depot-not-proved': 'correct public.host and public.port, and what stands before the depot',
  'master-unreachable': 'check master.url, the network, and trustedCaFiles',
  'not-found': 'check master.url: it is that of the master itself, mostly without a path',
  'method-not-allowed': 'check master.url: it is that of the master itself, mostly without a path',
  'master-bad-answer': 'check master.url: what answers there has another enrolment secret, or is no master',
};

/** Whether the master would take this depot, and finds it at its address. Nothing is registered. */
export async function checkRegistration(tryRegistration: () => Promise<Trial>): Promise<Finding[]> {
  const trial = await tryRegistration().catch((failure: unknown) =>
    asLonghaulError(failure, 'master-bad-answer'),
  );
  if (trial instanceof LonghaulError) return [refused(REGISTRATION, trial)];
  if (trial.refusal) return [refused(REGISTRATION, trial.refusal)];
  const taken: Finding = { level: 'ok', what: REGISTRATION, found: 'the master would take it' };
  if (trial.unproved) return [taken, refused(ADDRESS, trial.unproved)];
  return [taken, { level: 'ok', what: ADDRESS, found: `the master finds this depot at ${trial.baseUrl}` }];
}

function refused(
  what: string,
  { code, message }: { readonly code: string; readonly message: string },
): Finding {
  const found = `${code}: ${message}`;
  const change = CHANGES[code as ErrorCode];
  return change === undefined ? { level: 'fail', what, found } : { level: 'fail', what, found, change };
}
