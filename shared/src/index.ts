export * from './address-policy.ts';
export * from './base64url.ts';
export * from './breaks.ts';
export * from './chain.ts';
export type { ChainPromise } from './chain-promise.ts';
export * from './congestion-controls.ts';
export * from './domain-of.ts';
export * from './ends.ts';
export * from './errors.ts';
export * from './host-pattern.ts';
export * from './join-job-reports.ts';
export * from './join-token.ts';
export {
  FITTED,
  type FittedConstants,
  type LegEstimate,
  type LegShape,
  legSeconds,
  legShape,
  shapeSeconds,
} from './leg-time.ts';
export * from './messages/directory.ts';
export * from './messages/enrolment.ts';
export { MAX_REVOKED_KEYS, MAX_RTT_MS } from './messages/fields.ts';
export * from './messages/follow-ups.ts';
export * from './messages/heartbeat.ts';
export * from './messages/outcomes.ts';
export * from './messages/plans.ts';
export * from './messages/refusal.ts';
export * from './origin-url.ts';
export * from './result.ts';
export * from './signed-address.ts';
export * from './throughput.ts';
export * from './ticket.ts';
export * from './units.ts';
export * from './wire/connect.ts';
export * from './wire/get-target.ts';
export * from './wire/protocol.ts';
export * from './wire/relay-target.ts';
export * from './wire/signed-requests.ts';
export * from './wire/well-known.ts';
export type { MasterWord } from './wire/well-known-target.ts';
