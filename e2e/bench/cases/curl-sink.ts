import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { requireProgram } from '../../lab/programs.ts';
import { onCore, SITE, TRAFFIC_CORE } from '../relays/relay.ts';
import type { CaseStage } from './bench-case.ts';

export interface CurlOrder {
  readonly addresses: readonly string[];
  readonly bodyBytes: number;
  /** Of each download; left out: as fast as they come. */
  readonly rateBytesPerSecond?: number;
}

let orders = 0;

/**
 * Has curl download everything at once to nowhere. Gives the seconds until the last byte; rejects when one is
 * not whole.
 */
export async function takeByCurl(stage: CaseStage, order: CurlOrder): Promise<number> {
  const { network, certificates } = stage;
  const { addresses, bodyBytes, rateBytesPerSecond } = order;
  orders += 1;
  const configFile = join(network.folder, `curl-${orders}.conf`);
  const lines = addresses.flatMap((address) => [`url = "${address}"`, 'output = "/dev/null"']);
  writeFileSync(configFile, `${lines.join('\n')}\n`);
  const command = [
    requireProgram('curl'),
    '--silent',
    '--show-error',
    '--no-progress-meter',
    '--cacert',
    certificates.ecdsa.caFile,
    '--parallel',
    '--parallel-immediate',
    '--parallel-max',
    String(Math.min(300, addresses.length)),
    ...(rateBytesPerSecond === undefined ? [] : ['--limit-rate', String(rateBytesPerSecond)]),
    '--write-out',
    '%{http_code} %{size_download} %{time_total}\\n',
    '--config',
    configFile,
  ];
  const child = network.spawn(SITE, onCore(TRAFFIC_CORE, command), ['ignore', 'pipe', 'pipe']);
  const ended = once(child, 'exit');
  const [said, complaint] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
  ]);
  await ended;
  const reports = said
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const whole = reports.filter(([status, size]) => status === '200' && Number(size) === bodyBytes);
  if (whole.length !== addresses.length)
    throw new Error(
      `${whole.length} of ${addresses.length} downloads were whole; the first lines: ${said.slice(0, 200)} ${complaint.slice(0, 500)}`,
    );
  return Math.max(...reports.map(([, , seconds]) => Number(seconds)));
}
