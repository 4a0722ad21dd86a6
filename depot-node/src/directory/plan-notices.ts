import { decodeBase64url, noticeText, ok, parseNoticeTarget, type Result, refuse } from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';

/** Clocks of a master and a depot may differ by so much; a notice is of no use for longer, either. */
const NOTICE_LIFE_MS = 60_000;

interface PlanNoticesComponents {
  readonly ownId: string;
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  /** Whether this depot knows another one. */
  readonly isKnown: (depot: string) => boolean;
  readonly nowMs: () => number;
}

/** Reads notices of masters: to which depot a connection will be needed. */
export class PlanNotices {
  readonly #components: PlanNoticesComponents;

  constructor(components: PlanNoticesComponents) {
    this.#components = components;
  }

  /** Gives the id of the depot to connect to; `bad-request` for whatever is no notice of a master for this depot, now. */
  read(target: string): Result<string> {
    const { ownId, masterKey, isKnown, nowMs } = this.#components;
    const notice = parseNoticeTarget(target);
    if (!notice.ok) return notice;
    const { next, timeMs, keyId, signature } = notice.value;
    if (Math.abs(nowMs() - timeMs) > NOTICE_LIFE_MS) return refuse('bad-request', 'the notice is old');
    if (next === ownId || !isKnown(next)) return refuse('bad-request', 'the notice names no other depot');
    const bytes = decodeBase64url(signature) ?? new Uint8Array();
    const isMasters = masterKey(keyId)?.(Buffer.from(noticeText(ownId, notice.value)), bytes) ?? false;
    return isMasters ? ok(next) : refuse('bad-request', 'the notice is not a master’s');
  }
}
