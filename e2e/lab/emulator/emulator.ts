import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { LabRefusal } from '../refusal.ts';
import { labObstacle } from '../requirements.ts';
import { checkDirection, checkLink } from './check-settings.ts';
import type { EmulatorCounters, EmulatorGreeting, EmulatorLink } from './control-protocol.ts';
import { EmulatorConnection, type EmulatorEnd } from './emulator-connection.ts';
import type { DirectionSettings, LinkDirection } from './link-settings.ts';

export type { EmulatorCounters, EmulatorLink } from './control-protocol.ts';

/** Links that live in a process of their own, which carries their packets. */
export interface Emulator {
  readonly pid: number;
  /** Whether it goes before all normal threads of the machine; delays are less exact without. */
  readonly isRealTime: boolean;
  /** Settles when the process has ended, whatever the reason. Never rejects. */
  readonly ended: Promise<EmulatorEnd>;
  /** Changes a link while traffic flows; in effect when it resolves. */
  readonly set: (
    link: string,
    direction: LinkDirection | 'both',
    change: Partial<DirectionSettings>,
  ) => Promise<void>;
  /** Starts all random streams and loss models anew. */
  readonly reseed: (seed: number) => Promise<void>;
  readonly counters: () => Promise<EmulatorCounters>;
  /**
   * By how many milliseconds a packet left too late at worst since the last call, or waited in its device
   * while the loop did not run; starts anew.
   */
  readonly takeLateness: () => Promise<number>;
  /** Ends the process; its devices vanish with it. May be called twice. */
  readonly stop: () => Promise<void>;
}

export interface EmulatorOptions {
  /** Real-time scheduling, where the machine permits it; by default yes. */
  readonly wantsRealTime?: boolean;
}

/** Longest name of a network device: IFNAMSIZ without the terminating zero. */
const DEVICE_NAME = /^[A-Za-z0-9_.-]{1,15}$/;
/** A collector on other threads would have to be waited for, and these are not real-time threads. */
const NODE_OPTIONS = ['--single-threaded-gc', '--max-semi-space-size=32'];

/**
 * Starts the emulator; when this resolves all devices exist in the caller's network namespace, not yet up.
 * Rejects with a `LabRefusal`: what `labObstacle` says of the machine, or `lab-input-invalid` with every
 * mistake listed.
 */
export async function startEmulator(
  links: readonly EmulatorLink[],
  seed: number,
  options: EmulatorOptions = {},
): Promise<Emulator> {
  refuseMistakes([...checkLinks(links), ...checkSeed(seed)]);
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const child = spawn(process.execPath, [...NODE_OPTIONS, join(import.meta.dirname, 'emulator-process.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const connection = new EmulatorConnection(child);
  const greeting = await connection
    .ask<EmulatorGreeting>({ links, seed, wantsRealTime: options.wantsRealTime ?? true })
    .catch(async (failure: unknown) => {
      await connection.stop();
      throw failure;
    });
  if (greeting.kind === 'refused') {
    await connection.stop();
    throw new LabRefusal(greeting.code, greeting.message);
  }

  const settings = new Map(links.map((link) => [link.name, link.settings]));
  async function set(
    link: string,
    direction: LinkDirection | 'both',
    change: Partial<DirectionSettings>,
  ): Promise<void> {
    const before = settings.get(link);
    if (!before)
      throw new LabRefusal(
        'lab-input-invalid',
        `there is no link ${link}: name one of ${[...settings.keys()].join(', ')}.`,
      );
    const directions = direction === 'both' ? (['forward', 'backward'] as const) : [direction];
    const changed = directions.map((name) => [name, { ...before[name], ...change }] as const);
    refuseMistakes([...new Set(changed.flatMap(([, wanted]) => checkDirection(wanted)))]);
    settings.set(link, { ...before, ...Object.fromEntries(changed) });
    await connection.ask({ kind: 'set', link, directions, change });
  }

  return {
    pid: child.pid ?? 0,
    isRealTime: greeting.isRealTime,
    ended: connection.ended,
    set,
    async reseed(newSeed) {
      refuseMistakes(checkSeed(newSeed));
      await connection.ask({ kind: 'reseed', seed: newSeed });
    },
    counters: () => connection.ask<EmulatorCounters>({ kind: 'counters' }),
    async takeLateness() {
      const { worstLatenessMs } = await connection.ask<{ worstLatenessMs: number }>({
        kind: 'take-lateness',
      });
      return worstLatenessMs;
    },
    stop: () => connection.stop(),
  };
}

function checkLinks(links: readonly EmulatorLink[]): string[] {
  const names = links.map(({ name }) => name);
  const devices = links.flatMap((link) => [...link.devices]);
  return [
    ...repeated(names).map((name) => `two links are named ${name}: give each a name of its own`),
    ...repeated(devices).map((name) => `the device ${name} is named twice: give each end its own`),
    ...names.filter((name) => !/^\S+$/.test(name)).map((name) => `link name "${name}": leave out spaces`),
    ...devices
      .filter((name) => !DEVICE_NAME.test(name))
      .map((name) => `device name "${name}": give 1 to 15 letters, digits, dots, dashes`),
    ...links.flatMap(({ name, settings }) =>
      checkLink(settings).map((mistake) => `link ${name}: ${mistake}`),
    ),
  ];
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function checkSeed(seed: number): string[] {
  return Number.isSafeInteger(seed) ? [] : [`the seed is ${seed}: give a whole number`];
}

function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new LabRefusal('lab-input-invalid', `${mistakes.join('; ')}.`);
}
