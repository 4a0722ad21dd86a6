import type { Settings } from '../settings/settings.ts';
import { Turns } from '../turns.ts';
import type { MasterHealth } from './master-health.ts';

interface DivertDependencies {
  readonly settings: () => Promise<Settings>;
  readonly health: Pick<MasterHealth, 'isWell' | 'look' | 'note' | 'noteDepot'>;
  /** Has the browser divert by these settings, or nothing. */
  readonly divertBy: (isOn: boolean, settings: Settings) => Promise<void>;
  /** Has `look` called again and again, or no longer. */
  readonly keepLooking: (isOn: boolean) => void;
}

/**
 * The mode without a wasted byte: keeps what the browser diverts in step with the settings and with the
 * master's health. Nothing is diverted to a master that is not well, or whose depot is out of reach here.
 */
export class Divert {
  readonly #deps: DivertDependencies;
  readonly #turns = new Turns();

  constructor(deps: DivertDependencies) {
    this.#deps = deps;
  }

  /**
   * The settings have changed, the background has started, or it is time to look at the master. What has
   * changed holds at once, by what is known of the master; nobody waits for what a silent one has to say.
   */
  async look(): Promise<void> {
    const { settings, health } = this.#deps;
    await this.#follow();
    const set = await settings();
    if (!isOn(set)) return;
    await health.look(set.master);
    await this.#follow();
  }

  /** Somebody has seen that the master does not answer. */
  masterIsDown(): Promise<void> {
    return this.#stop((health, master) => health.note(master, false));
  }

  /** Somebody has seen that the depot at this address does not answer, to which the master led. */
  depotIsSilent(location: string): Promise<void> {
    return this.#stop((health, master) => health.noteDepot(master, location));
  }

  /** The network is another one, maybe: it may let through to a depot what the other one did not. */
  async rest(): Promise<void> {
    const { settings, health } = this.#deps;
    await health.noteDepot((await settings()).master);
    await this.look();
  }

  #stop(note: (health: DivertDependencies['health'], master: string) => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      const { settings, health } = this.#deps;
      const set = await settings();
      await note(health, set.master);
      await this.#put(set, false);
    });
  }

  #follow(): Promise<void> {
    return this.#inTurn(async () => {
      const { settings, health } = this.#deps;
      const set = await settings();
      await this.#put(set, isOn(set) && (await health.isWell(set.master)));
    });
  }

  async #put(set: Settings, isWell: boolean): Promise<void> {
    const { divertBy, keepLooking } = this.#deps;
    keepLooking(isOn(set));
    await divertBy(isWell, set);
  }

  /** One after the other: what was asked for last counts. */
  #inTurn(action: () => Promise<void>): Promise<void> {
    return this.#turns.take(action).catch(() => undefined);
  }
}

/** Whether requests are to be diverted at all. */
export function isOn({ enabled, noWastedByte, master }: Settings): boolean {
  return enabled && noWastedByte && master !== '';
}
