import type { DirectionSettings, LinkSettings, LossModel } from '../emulator/link-settings.ts';
import type { EmulatedLink } from './topology.ts';

/** What the emulator is told of a link: each direction delays half of the round-trip time. */
export function linkSettings(link: EmulatedLink): LinkSettings {
  return { forward: direction(link), backward: direction({ ...link, ...link.backward }) };
}

function direction(link: Omit<EmulatedLink, 'backward'>): DirectionSettings {
  return {
    delayMs: link.rttMs / 2,
    jitterMs: link.jitterMs ?? 0,
    loss: lossModel(link.loss ?? 0),
    rateBps: link.rateBps,
    queue: link.queue,
    isCut: false,
  };
}

function lossModel(loss: number | LossModel): LossModel {
  if (typeof loss !== 'number') return loss;
  return loss === 0 ? { kind: 'none' } : { kind: 'independent', rate: loss };
}

/** Share of packets lost in the long run; of Gilbert-Elliott, the mean over its chain's stationary distribution. */
export function lossRateOf(loss: LossModel): number {
  switch (loss.kind) {
    case 'none':
      return 0;
    case 'independent':
      return loss.rate;
    case 'gilbert-elliott': {
      const moves = loss.toBad + loss.toGood;
      // A chain that never moves stays where it starts, in the good state.
      const badShare = moves === 0 ? 0 : loss.toBad / moves;
      return (1 - badShare) * loss.lossInGood + badShare * loss.lossInBad;
    }
  }
}
