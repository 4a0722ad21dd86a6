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
import { checkMastersWord, type MastersWordComponents } from './masters-word.ts';

interface PlanNoticesComponents extends MastersWordComponents {
  readonly ownId: string;
  /** Whether this depot knows another one. */
  readonly isKnown: (depot: string) => boolean;
}

/** Reads notices of masters: to which depot a connection will be needed, and which client is about to come. */
export class PlanNotices {
  readonly #components: PlanNoticesComponents;

  constructor(components: PlanNoticesComponents) {
    this.#components = components;
  }

  /**
   * Gives the id of the depot to connect to; `bad-request` for whatever is no notice of a master for this
   * depot, now, or `signature-checks-spent` where too many from that address were forged.
   */
  read(target: string, from: string): Result<string> {
    const { ownId, isKnown } = this.#components;
    const notice = parseNoticeTarget(target);
    if (!notice.ok) return notice;
    const { next } = notice.value;
    if (next === ownId || !isKnown(next)) return refuse('bad-request', 'the notice names no other depot');
    const word = { ...notice.value, what: 'the notice', text: noticeText(ownId, notice.value) };
    const checked = checkMastersWord(word, from, this.#components);
    return checked.ok ? ok(next) : checked;
  }

  /**
   * Gives a notice of a way, its ticket not looked at; refuses as `read` does.
   */
  readWay(target: string, from: string): Result<WayNotice> {
    const notice = parseWayTarget(target);
    if (!notice.ok) return notice;
    const text = wayText(this.#components.ownId, notice.value);
    const checked = checkMastersWord(
      { ...notice.value, what: 'the notice of a way', text },
      from,
      this.#components,
    );
    return checked.ok ? notice : checked;
  }
}
