import { MIB } from '@longhaul/shared';
import type { Experiment, Scenario, Variant } from '../experiment.ts';
import { BIG_BUFFER_BYTES, FOUR_LINKS_DEPOTS, fourLinks } from './four-links.ts';

const CASCADES: Readonly<Record<string, Variant>> = {
  direct: { kind: 'direct' },
  /** The master knows that a kilobyte is a mouse, and sends it straight to the origin. */
  cascade0: { kind: 'auto' },
  cascade1: { kind: 'chain', depots: ['near'] },
  cascade2: { kind: 'chain', depots: ['near', 'far'] },
  cascade3: { kind: 'chain', depots: ['near', 'middle', 'far'] },
};

/** The paper's signalling, for http origins: the client visits the depots from the origin's side on. */
const STEPWISE: Readonly<Record<string, Variant>> = {
  stepwise1: { kind: 'chain', depots: ['near'], signalling: 'stepwise' },
  stepwise2: { kind: 'chain', depots: ['near', 'far'], signalling: 'stepwise' },
  stepwise3: { kind: 'chain', depots: ['near', 'middle', 'far'], signalling: 'stepwise' },
};

const MOUSE: Readonly<Record<string, Variant>> = {
  direct: { kind: 'direct' },
  auto: { kind: 'auto' },
  'auto-unsized': { kind: 'auto', mustGuessSize: true },
};

const ELEPHANT: Readonly<Record<string, Variant>> = { direct: { kind: 'direct' }, auto: { kind: 'auto' } };

const scenario = (id: string, label: string, sizeBytes: number, rest: Partial<Scenario> = {}): Scenario => ({
  id,
  label,
  sizeBytes,
  topology: fourLinks({ pathLoss: 0, clientBufferBytes: BIG_BUFFER_BYTES, originControl: 'cubic' }),
  client: 'client',
  origin: 'origin',
  depots: FOUR_LINKS_DEPOTS,
  variants: CASCADES,
  ...rest,
});

/** What a chain costs before the first byte. */
export const SIGNALLING: Experiment = {
  name: 'signalling',
  title: 'Signalling: what a chain costs before the first byte',
  question:
    'When does the first byte arrive, and how much of that is set-up, directly, by cascade over 0 to 3 depots and stepwise over 1 to 3, with every connection new and with connections between depots ready?',
  scenarios: [
    scenario('http-cold', 'http, every connection new', 1000, {
      start: 'cold',
      variants: { ...CASCADES, ...STEPWISE },
    }),
    scenario('http-warm', 'http, connections between depots ready', 1000, {
      start: 'warm',
      variants: { ...CASCADES, ...STEPWISE },
    }),
    scenario('https-cold', 'https, every connection new', 1000, { start: 'cold', tls: true }),
    scenario('https-warm', 'https, connections between depots ready', 1000, { start: 'warm', tls: true }),
    scenario('mouse-100kB', '100 kB over http: what the master makes of a mouse', 100_000, {
      variants: MOUSE,
    }),
    scenario('mouse-100kB-tls', '100 kB over https: the same', 100_000, { tls: true, variants: MOUSE }),
    scenario('elephant-10MiB', '10 MiB over http: when the first byte of an elephant comes', 10 * MIB, {
      variants: ELEPHANT,
    }),
    ...(['cold', 'warm'] as const).flatMap((start) =>
      [false, true].map((tls) =>
        scenario(
          `elephant-${start}${tls ? '-tls' : ''}`,
          `10 MiB over ${tls ? 'https' : 'http'}, ${start === 'cold' ? 'every connection new' : 'connections between depots ready'}`,
          10 * MIB,
          { start, tls, variants: ELEPHANT },
        ),
      ),
    ),
  ],
  full: { repeats: 30 },
  quick: { repeats: 5 },
  cutSeconds: 12,
  repeatsPerTurn: 5,
};
