import type { Duplex } from 'node:stream';
import type { ChoosingRelay, PlaneKind, RelayPlane } from './relay-plane.ts';
import type { SplicePlane } from './splice-plane.ts';
import { streamPlane } from './stream-plane.ts';

/** Handing a shorter body over costs more CPU time than splicing it saves. */
const MIN_SPLICED_BODY_BYTES = 262_144;

interface ChooserComponents {
  /** Undefined where it is not available or not wanted. */
  readonly splice: SplicePlane | undefined;
  /** Told of every flow and of the plane that carries it. */
  readonly onFlow: (kind: PlaneKind) => void;
}

/** The relay that takes for each flow the plane that suits it; nobody else has to know that there are two. */
export function createRelay({ splice, onFlow }: ChooserComponents): ChoosingRelay {
  const spliceFor = (one: Duplex, other: Duplex) =>
    splice?.isAlive() && splice.canMove(one) && splice.canMove(other) ? splice : undefined;
  const choose = (one: Duplex, other: Duplex, isWorthIt: boolean): RelayPlane => {
    const plane = (isWorthIt ? spliceFor(one, other) : undefined) ?? streamPlane;
    onFlow(plane.kind);
    return plane;
  };
  return {
    splices: (source, sink, sizeBytes) =>
      sizeBytes >= MIN_SPLICED_BODY_BYTES && spliceFor(source, sink) !== undefined,
    merge: async (sink, options) => {
      if (splice?.isAlive() !== true || !splice.canMove(sink)) return undefined;
      const merge = await splice.merge(sink, options);
      if (merge) onFlow('splice');
      return merge;
    },
    openDigest: (algorithm) => splice?.openDigest(algorithm),
    tunnel: (downstream, upstream, options) =>
      choose(downstream, upstream, true).tunnel(downstream, upstream, options),
    body: (source, sink, options) =>
      choose(source, sink, options.sizeBytes >= MIN_SPLICED_BODY_BYTES).body(source, sink, options),
  };
}
