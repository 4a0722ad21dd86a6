import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PlannerAnswer, PlannerOrder } from './planner-port.ts';

/**
 * Where memory is plentiful Node collects none of it for long: what a master needs is seen where it has no
 * more. It ends where that is too little.
 */
export const HEAP_MB = 320;

/** Orders that are not answered. */
type Told = 'report' | 'links' | 'ends-report' | 'outcome' | 'complaint';

const MAIN = join(import.meta.dirname, 'planner-main.ts');

/** The process of a simulated master, asked one thing after the other. */
export class SimulatedMaster {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts one and tells it how its world begins; gives what it knows again. Rejects when it ends instead. */
  static async start(begin: Extract<PlannerOrder, { type: 'begin' }>) {
    const master = new SimulatedMaster(
      fork(MAIN, [], { execArgv: [`--max-old-space-size=${HEAP_MB}`], serialization: 'advanced' }),
    );
    const { facts, refused } = await master.#ask(begin, 'ready');
    return { master, facts, refused };
  }

  tell(order: Extract<PlannerOrder, { type: Told }>): void {
    this.#child.send(order);
  }

  plan(order: Extract<PlannerOrder, { type: 'plan' }>) {
    return this.#ask(order, 'planned');
  }

  /** Has all depots heard; gives those that it has probe the pair's origin. */
  async heard(order: Extract<PlannerOrder, { type: 'heard' }>): Promise<readonly string[]> {
    return (await this.#ask(order, 'probing')).depots;
  }

  /** Has it write down what it has learned. */
  save(nowMs: number) {
    return this.#ask({ type: 'save', nowMs }, 'saved');
  }

  usage() {
    return this.#ask({ type: 'usage' }, 'usage');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #ask<Type extends PlannerAnswer['type']>(
    order: PlannerOrder,
    type: Type,
  ): Promise<Extract<PlannerAnswer, { type: Type }>> {
    return new Promise((resolve, reject) => {
      const onExit = () =>
        reject(new Error(`the simulated master ended when it was asked for '${order.type}'`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (answer: PlannerAnswer) => {
        this.#child.off('exit', onExit);
        if (answer.type === type) resolve(answer as Extract<PlannerAnswer, { type: Type }>);
        else reject(new Error(`'${answer.type}' is no answer to '${order.type}'`));
      });
      this.#child.send(order);
    });
  }
}
