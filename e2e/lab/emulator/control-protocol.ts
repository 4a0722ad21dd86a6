/**
 * What driver and emulator say to each other: one JSON value per line. The driver's first line is {@link
 * EmulatorStart}; the emulator answers with {@link EmulatorGreeting}. Then each {@link EmulatorRequest} gets
 * one {@link EmulatorAnswer}, in order. The emulator ends when its input does.
 */
import type { LabRefusalCode } from '../refusal.ts';
import type { DirectionSettings, LinkDirection, LinkSettings } from './link-settings.ts';
import type { DirectionCounters } from './packet-direction.ts';

export interface EmulatorLink {
  /** Without spaces, and unlike the others'. */
  readonly name: string;
  /** Names of the TUN devices of the first and the second end; at most 15 characters each. */
  readonly devices: readonly [string, string];
  /** `forward` is what is read from the first device and written to the second. */
  readonly settings: LinkSettings;
}

export interface EmulatorStart {
  readonly links: readonly EmulatorLink[];
  readonly seed: number;
  readonly wantsRealTime: boolean;
}

export type EmulatorGreeting =
  | { readonly kind: 'ready'; readonly isRealTime: boolean }
  | { readonly kind: 'refused'; readonly code: LabRefusalCode; readonly message: string };

export type EmulatorRequest =
  | {
      readonly kind: 'set';
      readonly link: string;
      readonly directions: readonly LinkDirection[];
      readonly change: Partial<DirectionSettings>;
    }
  | { readonly kind: 'reseed'; readonly seed: number }
  | { readonly kind: 'counters' }
  | { readonly kind: 'take-lateness' };

export interface EmulatorCounters {
  /** How much later than due a packet left at worst, since the last `takeLateness`. */
  readonly worstLatenessMs: number;
  /** Whether the emulator goes before all normal threads of the machine. */
  readonly isRealTime: boolean;
  readonly links: Readonly<Record<string, Readonly<Record<LinkDirection, DirectionCounters>>>>;
}

export type EmulatorAnswer =
  | EmulatorCounters
  | { readonly worstLatenessMs: number }
  | { readonly isDone: true };

export type EmulatorLine = EmulatorStart | EmulatorGreeting | EmulatorRequest | EmulatorAnswer;

/** JSON has no Infinity; no other value of the protocol is text like this. */
const INFINITY_TEXT = '\u221e';

/** One line, with its end. */
export function encodeLine(line: EmulatorLine): string {
  const text = JSON.stringify(line, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? INFINITY_TEXT : value,
  );
  return `${text}\n`;
}

/** What `encodeLine` was given. The two programs trust each other: the shape is not checked. */
export function decodeLine(text: string): EmulatorLine {
  return JSON.parse(text, (_, value: unknown) =>
    value === INFINITY_TEXT ? Number.POSITIVE_INFINITY : value,
  ) as EmulatorLine;
}
