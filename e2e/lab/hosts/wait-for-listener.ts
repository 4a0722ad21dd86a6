import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Network } from '../network/network.ts';
import { requireProgram } from '../programs.ts';

/** A server that does not listen by then is not going to. */
const START_TIMEOUT_MS = 10_000;
/** Between two looks: short beside the start of any server, long beside that of `ss`. */
const LOOK_INTERVAL_MS = 20;

export interface Listener {
  readonly network: Network;
  readonly site: string;
  readonly port: number;
  /** The server, with its error output in a pipe. */
  readonly child: ChildProcess;
  /** For people. */
  readonly name: string;
}

/**
 * Waits until a server listens at its site. The kernel is asked, because a relay would pass a trial connection on to
 * its next hop. Rejects with what the server said when it ends or takes too long.
 */
export async function waitForListener({ network, site, port, child, name }: Listener): Promise<void> {
  let said = '';
  let failure: Error | undefined;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 10_000) said += text;
  });
  child.once('error', (error) => {
    failure = error;
  });
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  const question = [requireProgram('ss'), '-ltnH', 'src', `${network.addressOf(site)}:${port}`];
  while (performance.now() < deadlineMs) {
    // Asked first, because the answer may be another server's that keeps this one from its port.
    const answer = await outputOf(network.spawn(site, question, ['ignore', 'pipe', 'ignore']));
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${name} ended:\n${said}`);
    if (answer !== '') return;
    await delay(LOOK_INTERVAL_MS);
  }
  throw new Error(`${name} does not listen after ${START_TIMEOUT_MS / 1000} s:\n${said}`);
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  return output;
}
