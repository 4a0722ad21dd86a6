import { readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { MIB } from '@longhaul/shared';
import { afterEach, describe, expect, test } from 'vitest';
import { openKernel } from '../kernel/open-kernel.ts';
import { receive, socketPair } from './promises/socket-pair.ts';
import type { FlowCommand } from './relay-thread.ts';
import { type RelayThreads, startRelayThreads } from './relay-threads.ts';
import { spliceTunnel } from './splice-tunnel.ts';

const { kernel } = openKernel();
const LONG = { silenceMs: 60_000, halfClosedSilenceMs: 60_000, signal: new AbortController().signal };

/** Ends of pipes of this process. */
function pipes(): number {
  const links = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return ''; // closed since
    }
  });
  return links.filter((link) => link.startsWith('pipe:')).length;
}

describe.skipIf(!kernel)('relay threads', () => {
  let threads: RelayThreads | undefined;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await threads?.close();
  });

  async function begin(count: number, restartAfterMs?: number) {
    if (!kernel) throw new Error('no kernel');
    const crashes: unknown[] = [];
    threads = await startRelayThreads({
      kernel,
      count,
      onCrash: (cause) => crashes.push(cause),
      ...(restartAfterMs !== undefined && { restartAfterMs }),
    });
    const components = { kernel, threads };
    const tunnel = async () => {
      const [[client, down], [server, up]] = await Promise.all([socketPair(), socketPair()]);
      sockets.push(client, server);
      const [atServer] = [receive(server), receive(client)];
      const outcome = spliceTunnel(components, down, up, LONG);
      client.write('through');
      await atServer.until(7);
      return { client, server, outcome };
    };
    /** What no thread survives. */
    const crash = () =>
      new Promise((resolve) => {
        const bad = { type: 'tunnel', downstream: kernel.duplicate(0), upstream: 1_000_000 };
        components.threads.idlest()?.start(bad as unknown as FlowCommand, {
          onProgress: () => undefined,
          onFinished: resolve,
        });
      });
    return { threads, tunnel, crash, crashes };
  }

  test('have the same number of flows, whichever flows end', async () => {
    const { threads: own, tunnel } = await begin(3);
    const open = await Promise.all(Array.from({ length: 12 }, tunnel));
    expect(own.running()).toEqual([4, 4, 4]);
    for (const { client, server, outcome } of open.slice(0, 9)) {
      client.end();
      server.end();
      expect((await outcome).outcome).toBe('complete');
    }
    await Promise.all(Array.from({ length: 3 }, tunnel));
    expect(own.running()).toEqual([2, 2, 2]);
  });

  test('go on without one that has died, until there is none', async () => {
    const { threads: own, tunnel, crash, crashes } = await begin(2);
    const [first, second] = await Promise.all([tunnel(), tunnel()]);
    await crash();
    const ended = await Promise.race([first.outcome, second.outcome]);
    expect(ended.reason).toBe('relay-failed');
    await expect.poll(() => own.running()).toEqual([1]);
    await tunnel();
    expect(own.isAlive()).toBe(true);
    await crash();
    await expect.poll(() => own.isAlive()).toBe(false);
    await expect.poll(() => crashes.length).toBe(2);
  });

  test('that have died are replaced after a pause by others, which take flows', async () => {
    const { threads: own, tunnel, crash, crashes } = await begin(1, 0);
    for (const deaths of [1, 2]) {
      const restarted = new Promise((resolve) => own.onRestart(resolve));
      await crash();
      expect(await restarted).toBe(own.idlest());
      expect(crashes).toHaveLength(deaths);
      await tunnel();
      expect(own.running()).toEqual([1]);
    }
    expect(own.all).toHaveLength(1);
  });

  test('that give back memory while the depot rests keep their resting tunnels whole', async () => {
    const { threads: own, tunnel } = await begin(1);
    const { client, server, outcome } = await tunnel();
    own.rest();
    const atServer = receive(server);
    client.end('and after the rest');
    await atServer.until('and after the rest'.length);
    server.end();
    expect(await outcome).toMatchObject({ outcome: 'complete', bytesUp: 'throughand after the rest'.length });
  });

  test('keep no pipes of a burst, whether others go on or none', async () => {
    const { tunnel } = await begin(1);
    const resting = await tunnel();
    const before = pipes();
    const burst = await Promise.all(Array.from({ length: 24 }, tunnel));
    for (const { client, server } of burst) {
      server.pause();
      client.end(Buffer.alloc(16 * MIB));
    }
    // Nobody reads: each tunnel has a pipe with bytes in it.
    await expect.poll(pipes).toBeGreaterThanOrEqual(before + 24);
    for (const { server } of burst) server.resume().end();
    await Promise.all(burst.map(({ outcome }) => outcome));
    await expect.poll(pipes, { timeout: 10_000 }).toBeLessThanOrEqual(before);

    resting.client.end();
    resting.server.end();
    expect((await resting.outcome).outcome).toBe('complete');
    await expect.poll(pipes, { timeout: 10_000 }).toBeLessThan(before);
  }, 30_000);
});
