import { formatBytes } from '@longhaul/shared';
import type { DirectionSettings, LinkSettings } from './link-settings.ts';
import { MEMORY_BYTES, wantedMemory } from './packet-direction.ts';

/** Longest delay and jitter, in milliseconds: more is surely seconds given as milliseconds. */
const LONGEST_DELAY_MS = 60_000;
/** Types do not hold what is told from outside: a setting that is left out would be one that nobody chose. */
const NEEDED = ['delayMs', 'jitterMs', 'loss', 'rateBps', 'queue'] as const;

/** Every mistake in the settings of one direction, one sentence part each; none when they are right. */
export function checkDirection(settings: DirectionSettings): string[] {
  const mistakes = [...checkThere(settings), ...checkValues(settings)];
  // How much is under way can be said only of settings that are right.
  return mistakes.length > 0 ? mistakes : checkMemory(settings);
}

function checkThere(settings: Partial<DirectionSettings>): string[] {
  return NEEDED.filter((name) => settings[name] === undefined).map((name) => `${name} is missing: give it`);
}

function checkValues(settings: Partial<DirectionSettings>): string[] {
  const { delayMs, jitterMs, loss, rateBps, queue } = settings;
  const mistakes: string[] = [];
  if (delayMs !== undefined && !isDelay(delayMs)) {
    mistakes.push(`delayMs is ${delayMs}: give milliseconds from 0 to ${LONGEST_DELAY_MS}`);
  }
  if (jitterMs !== undefined && !isDelay(jitterMs)) {
    mistakes.push(`jitterMs is ${jitterMs}: give milliseconds from 0 to ${LONGEST_DELAY_MS}`);
  }
  if (rateBps !== undefined && !(typeof rateBps === 'number' && rateBps > 0)) {
    mistakes.push(`rateBps is ${rateBps}: give bits per second above 0, or Infinity for no limit`);
  }
  if (queue !== undefined) mistakes.push(...checkQueue(queue));
  if (loss !== undefined) mistakes.push(...checkLoss(loss));
  return mistakes;
}

function checkMemory(settings: DirectionSettings): string[] {
  const wantedBytes = wantedMemory(settings);
  if (wantedBytes <= MEMORY_BYTES) return [];
  return [
    `rate x delay + queue is ${formatBytes(wantedBytes)}, of which the emulator holds ${formatBytes(MEMORY_BYTES)}: make the link slower or shorter, or its queue smaller`,
  ];
}

/** Every mistake in the settings of a link, with the direction in front. */
export function checkLink(settings: LinkSettings): string[] {
  return (['forward', 'backward'] as const).flatMap((direction) =>
    checkDirection(settings[direction]).map((mistake) => `${direction}: ${mistake}`),
  );
}

function checkQueue(queue: DirectionSettings['queue']): string[] {
  if (typeof queue !== 'object' || queue === null)
    return [`queue is ${JSON.stringify(queue)}: give { bytes } or { packets }`];
  const [unit, limit] = 'bytes' in queue ? ['bytes', queue.bytes] : ['packets', queue.packets];
  if (Number.isFinite(limit) && limit > 0) return [];
  return [`queue is ${limit} ${unit}: give a number above 0`];
}

function checkLoss(loss: DirectionSettings['loss']): string[] {
  const { kind, ...probabilities } = loss;
  const names = LOSS_PROBABILITIES[kind] as readonly string[] | undefined;
  if (names === undefined) {
    return [`loss is of kind ${kind}: give one of ${Object.keys(LOSS_PROBABILITIES).join(', ')}`];
  }
  const given = probabilities as Partial<Record<string, number>>;
  return names
    .filter((name) => !isProbability(given[name]))
    .map((name) => `loss.${name} is ${given[name]}: give a probability from 0 to 1`);
}

const LOSS_PROBABILITIES = {
  none: [],
  independent: ['rate'],
  'gilbert-elliott': ['toBad', 'toGood', 'lossInGood', 'lossInBad'],
} as const satisfies Record<DirectionSettings['loss']['kind'], readonly string[]>;

function isDelay(value: number): boolean {
  return Number.isFinite(value) && value >= 0 && value <= LONGEST_DELAY_MS;
}

function isProbability(value: number | undefined): boolean {
  return value !== undefined && Number.isFinite(value) && value >= 0 && value <= 1;
}
