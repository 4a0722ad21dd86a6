import {
  noticeText,
  ok,
  parseNoticeTarget,
  parseWayTarget,
  type Result,
  refuse,
  type WayNotice,
  wayText,
} from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';
import { whyNotMasters } from './masters-word.ts';

interface PlanNoticesComponents {
  readonly ownId: string;
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  /** Whether this depot knows another one. */
  readonly isKnown: (depot: string) => boolean;
  readonly nowMs: () => number;
}

/** Reads notices of masters: to which depot a connection will be needed, and which client is about to come. */
export class PlanNotices {
  readonly #components: PlanNoticesComponents;

  constructor(components: PlanNoticesComponents) {
    this.#components = components;
  }

  /**
   * Gives the id of the depot to connect to; `bad-request` for whatever is no notice of a master for this
   * depot, now.
   */
  read(target: string): Result<string> {
    const { ownId, isKnown } = this.#components;
    const notice = parseNoticeTarget(target);
    if (!notice.ok) return notice;
    const { next } = notice.value;
    if (next === ownId || !isKnown(next)) return refuse('bad-request', 'the notice names no other depot');
    const word = { ...notice.value, text: noticeText(ownId, notice.value) };
    const why = whyNotMasters(word, this.#components);
    return why === undefined ? ok(next) : refuse('bad-request', `the notice is ${why}`);
  }

  /**
   * Gives a notice of a way, its ticket not looked at; `bad-request` for whatever is no notice of a master
   * for this depot, now.
   */
  readWay(target: string): Result<WayNotice> {
    const notice = parseWayTarget(target);
    if (!notice.ok) return notice;
    const word = { ...notice.value, text: wayText(this.#components.ownId, notice.value) };
    const why = whyNotMasters(word, this.#components);
    return why === undefined ? notice : refuse('bad-request', `the notice of a way is ${why}`);
  }
}
