/** Something to be done that needs things which nobody else may use meanwhile. */
export interface Task {
  readonly needs: ReadonlySet<string>;
  readonly run: () => Promise<void>;
}

/**
 * Does all tasks in about their order, so many at once where none needs what another one uses. Rejects with
 * the first failure, when those that run have ended.
 */
export async function sideBySide(tasks: readonly Task[], atOnce: number): Promise<void> {
  const waiting = [...tasks];
  const used = new Set<string>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const begin = ({ needs, run }: Task) => {
    for (const need of needs) used.add(need);
    const done = run()
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => {
        for (const need of needs) used.delete(need);
        running.delete(done);
      });
    running.add(done);
  };
  while (waiting.length > 0 && failures.length === 0) {
    const at =
      running.size < atOnce
        ? waiting.findIndex(({ needs }) => [...needs].every((need) => !used.has(need)))
        : -1;
    const [next] = at === -1 ? [] : waiting.splice(at, 1);
    if (next) begin(next);
    else await Promise.race(running);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
