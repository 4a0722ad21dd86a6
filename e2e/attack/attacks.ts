import type { Attack } from './attack.ts';
import { ABSURD_REPORTS } from './attacks/absurd-reports.ts';
import { ANSWER_HEAD_FLOODS } from './attacks/answer-head-floods.ts';
import { CHALLENGE_FLOODS } from './attacks/challenge-floods.ts';
import { CLIENT_TUNNELS } from './attacks/client-tunnels.ts';
import { CONNECT_ABUSE } from './attacks/connect-abuse.ts';
import { CONNECT_FLOOD } from './attacks/connect-flood.ts';
import { CONNECTION_CHURN } from './attacks/connection-churn.ts';
import { DEAR_HANDSHAKES } from './attacks/dear-handshakes.ts';
import { DRIPPED_BLOCKS } from './attacks/dripped-blocks.ts';
import { DRIPPING_ORIGINS } from './attacks/dripping-origins.ts';
import { ENORMOUS_REDIRECTS } from './attacks/enormous-redirects.ts';
import { FORGED_MASTER } from './attacks/forged-master.ts';
import { FORGED_SIGNATURES } from './attacks/forged-signatures.ts';
import { HALF_HANDSHAKES } from './attacks/half-handshakes.ts';
import { HALF_HEADS, HALF_HEADS_AT_MASTER } from './attacks/half-heads.ts';
import { HANDSHAKE_FLOODS } from './attacks/handshake-floods.ts';
import { HEADER_FLOODS } from './attacks/header-floods.ts';
import { HELD_BODIES } from './attacks/held-bodies.ts';
import { IDLE_ATTACKER } from './attacks/idle-attacker.ts';
import { IDLE_TUNNELS } from './attacks/idle-tunnels.ts';
import { INTERIM_FLOODS } from './attacks/interim-floods.ts';
import { KEY_UPDATES } from './attacks/key-updates.ts';
import { LONG_NAMES } from './attacks/long-names.ts';
import { LYING_ANSWERS } from './attacks/lying-answers.ts';
import { LYING_NEIGHBOUR } from './attacks/lying-neighbour.ts';
import { LYING_REPAIRS } from './attacks/lying-repairs.ts';
import { MISPLACED_DEPOT } from './attacks/misplaced-depot.ts';
import { MUTATED_HEADS } from './attacks/mutated-heads.ts';
import { MUTATED_MASTER_REQUESTS } from './attacks/mutated-master-requests.ts';
import { MUTATED_TICKETS } from './attacks/mutated-tickets.ts';
import { OPEN_ENDS } from './attacks/open-ends.ts';
import { OVERSPENT_BUDGET } from './attacks/overspent-budget.ts';
import { PIPELINES } from './attacks/pipelines.ts';
import { PLAN_FLOODS } from './attacks/plan-floods.ts';
import { PRIVATE_ADDRESSES } from './attacks/private-addresses.ts';
import { RANGE_FLOODS } from './attacks/range-floods.ts';
import { REBINDING_NAMES } from './attacks/rebinding-names.ts';
import { REDIRECT_TRAPS } from './attacks/redirect-traps.ts';
import { REPLAYED_PROOFS } from './attacks/replayed-proofs.ts';
import { REPLAYED_REGISTRATIONS } from './attacks/replayed-registrations.ts';
import { SHARED_TICKET } from './attacks/shared-ticket.ts';
import { SLOW_NAMES } from './attacks/slow-names.ts';
import { SLOW_READERS } from './attacks/slow-readers.ts';
import { SPLIT_ANSWERS } from './attacks/split-answers.ts';
import { STEPWISE_BEGINNINGS } from './attacks/stepwise-beginnings.ts';
import { TAKEN_OVER_DEPOT } from './attacks/taken-over-depot.ts';
import { TINY_CHUNKS } from './attacks/tiny-chunks.ts';
import { TINY_PACKETS } from './attacks/tiny-packets.ts';
import { TINY_RECORDS } from './attacks/tiny-records.ts';
import { UNREAD_BODIES } from './attacks/unread-bodies.ts';
import { UNREAD_LANES } from './attacks/unread-lanes.ts';
import { UPLOAD_BODIES } from './attacks/upload-bodies.ts';
import { URL_CONFUSION } from './attacks/url-confusion.ts';

/** Everything that is tried, in the order in which it is tried. */
export const ATTACKS: readonly Attack[] = [
  IDLE_ATTACKER,
  // What a client may ask for.
  MUTATED_HEADS,
  MUTATED_TICKETS,
  URL_CONFUSION,
  PRIVATE_ADDRESSES,
  REBINDING_NAMES,
  CONNECT_ABUSE,
  MUTATED_MASTER_REQUESTS,
  // How much a client may ask.
  HALF_HEADS,
  HALF_HEADS_AT_MASTER,
  HALF_HANDSHAKES,
  HANDSHAKE_FLOODS,
  DEAR_HANDSHAKES,
  KEY_UPDATES,
  TINY_RECORDS,
  CONNECTION_CHURN,
  HEADER_FLOODS,
  UPLOAD_BODIES,
  HELD_BODIES,
  PIPELINES,
  CONNECT_FLOOD,
  CHALLENGE_FLOODS,
  FORGED_SIGNATURES,
  PLAN_FLOODS,
  RANGE_FLOODS,
  // What a client may hold.
  UNREAD_BODIES,
  UNREAD_LANES,
  SLOW_READERS,
  TINY_PACKETS,
  CLIENT_TUNNELS,
  STEPWISE_BEGINNINGS,
  OVERSPENT_BUDGET,
  SHARED_TICKET,
  // What an origin may answer.
  LYING_ANSWERS,
  SPLIT_ANSWERS,
  LYING_REPAIRS,
  REDIRECT_TRAPS,
  ENORMOUS_REDIRECTS,
  LONG_NAMES,
  INTERIM_FLOODS,
  ANSWER_HEAD_FLOODS,
  TINY_CHUNKS,
  DRIPPING_ORIGINS,
  DRIPPED_BLOCKS,
  OPEN_ENDS,
  SLOW_NAMES,
  // What a member of the overlay may do, and whoever stands between.
  IDLE_TUNNELS,
  LYING_NEIGHBOUR,
  ABSURD_REPORTS,
  REPLAYED_PROOFS,
  REPLAYED_REGISTRATIONS,
  TAKEN_OVER_DEPOT,
  MISPLACED_DEPOT,
  FORGED_MASTER,
];
