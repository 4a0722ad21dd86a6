import { createHash, type Hash } from 'node:crypto';
import type { DigestAlgorithm } from '../digests/flow-digest.ts';

/** What the main thread asks of the digests of a relay thread. */
export type DigestCommand =
  | { readonly type: 'digest-begin'; readonly id: number; readonly algorithm: DigestAlgorithm }
  | { readonly type: 'digest-add'; readonly id: number; readonly bytes: Uint8Array }
  /** Is answered by a report. */
  | { readonly type: 'digest-finish'; readonly id: number }
  | { readonly type: 'digest-drop'; readonly id: number };

/** The digests of a relay thread, which outlive the flows that feed them. */
export class ThreadDigests {
  readonly #hashes = new Map<number, Hash>();

  /** Obeys; gives what there is to report. */
  obey(command: DigestCommand): Uint8Array | undefined {
    const { id, type } = command;
    const hash = this.#hashes.get(id);
    if (type === 'digest-begin') this.#hashes.set(id, createHash(command.algorithm));
    else if (type === 'digest-add') hash?.update(command.bytes);
    else this.#hashes.delete(id);
    return type === 'digest-finish' ? hash?.digest() : undefined;
  }

  /** What a flow shows its bytes to. */
  find(id: number | undefined): Hash | undefined {
    return id === undefined ? undefined : this.#hashes.get(id);
  }
}
