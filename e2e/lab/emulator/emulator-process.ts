/** The emulator's own process: `emulator.ts` starts it and speaks to it over its input and output. */
import { readSync, writeSync } from 'node:fs';
import {
  decodeLine,
  type EmulatorAnswer,
  type EmulatorGreeting,
  type EmulatorRequest,
  type EmulatorStart,
  encodeLine,
} from './control-protocol.ts';
import { Forwarder } from './forwarder.ts';
import { forward, IntakeStalls, Sleeper } from './forwarding-loop.ts';
import { type Kernel, openKernel } from './kernel.ts';
import { LineInput } from './line-input.ts';
import { PacketDirection } from './packet-direction.ts';

const INPUT = 0;
const OUTPUT = 1;

interface RunningLink {
  readonly name: string;
  readonly forward: Forwarder;
  readonly backward: Forwarder;
}

interface Running {
  readonly links: readonly RunningLink[];
  readonly stalls: IntakeStalls;
  readonly isRealTime: boolean;
}

await run();

async function run(): Promise<void> {
  const input = new LineInput((chunk) => readSync(INPUT, chunk));
  const first = input.readLine();
  if (first === undefined) return;
  const start = decodeLine(first) as EmulatorStart;
  const kernel = await openKernel().catch((failure: unknown) => {
    refuse({
      kind: 'refused',
      code: 'lab-needs-program',
      message: `The emulator needs the optional package koffi, which did not load (${text(failure)}): run npm install with optional packages.`,
    });
  });
  if (kernel === undefined) return;
  const devices = createDevices(kernel, start);
  if (devices === undefined) return;
  kernel.ignoreInterrupt();
  const links = start.links.map((link, index) => startLink(kernel, start.seed, link, devices[index]));
  const isRealTime = start.wantsRealTime && kernel.becomeRealTime();
  writeSync(OUTPUT, encodeLine({ kind: 'ready', isRealTime }));

  const forwarders = links.flatMap((link) => [link.forward, link.backward]);
  const sleeper = new Sleeper(kernel, [INPUT, ...devices.flat()]);
  const stalls = new IntakeStalls();
  forward(forwarders, sleeper, stalls, () => {
    const lines = input.readAvailable();
    for (const line of lines ?? []) {
      writeSync(
        OUTPUT,
        encodeLine(answer(decodeLine(line) as EmulatorRequest, { links, stalls, isRealTime })),
      );
    }
    return lines !== undefined;
  });
}

type DevicePair = readonly [number, number];

function createDevices(kernel: Kernel, start: EmulatorStart): DevicePair[] | undefined {
  try {
    return start.links.map(({ devices }) => [kernel.createTun(devices[0]), kernel.createTun(devices[1])]);
  } catch (failure) {
    const code = (failure as { code?: string }).code;
    const isForbidden = code === 'EPERM' || code === 'EACCES';
    refuse({
      kind: 'refused',
      code: isForbidden ? 'lab-needs-root' : 'lab-needs-tun',
      message: isForbidden
        ? `The emulator may not make TUN devices (${text(failure)}): run the lab as root with CAP_NET_ADMIN.`
        : `The emulator cannot make its TUN devices (${text(failure)}): load the module tun, and free the device's name.`,
    });
    return undefined;
  }
}

function startLink(
  kernel: Kernel,
  seed: number,
  link: EmulatorStart['links'][number],
  devices: DevicePair | undefined,
): RunningLink {
  const [first, second] = devices ?? [-1, -1];
  const direction = (name: 'forward' | 'backward') =>
    new PacketDirection(`${link.name}/${name}`, link.settings[name], seed);
  return {
    name: link.name,
    forward: new Forwarder(kernel, direction('forward'), first, second),
    backward: new Forwarder(kernel, direction('backward'), second, first),
  };
}

function answer(request: EmulatorRequest, { links, stalls, isRealTime }: Running): EmulatorAnswer {
  const directions = links.flatMap((link) => [link.forward.direction, link.backward.direction]);
  switch (request.kind) {
    case 'set': {
      const link = links.find(({ name }) => name === request.link);
      for (const name of request.directions) link?.[name].direction.change(performance.now(), request.change);
      return { isDone: true };
    }
    case 'reseed':
      for (const direction of directions) direction.reseed(request.seed);
      return { isDone: true };
    case 'counters':
      return counters(links, isRealTime);
    case 'take-lateness':
      return {
        worstLatenessMs: Math.max(stalls.take(), ...directions.map((direction) => direction.takeLateness())),
      };
  }
}

function counters(links: readonly RunningLink[], isRealTime: boolean): EmulatorAnswer {
  const byLink = links.map((link) => {
    const pair = {
      forward: link.forward.direction.counters(),
      backward: link.backward.direction.counters(),
    };
    return [link.name, pair] as const;
  });
  const lateness = byLink.flatMap(([, pair]) => [
    pair.forward.worstLatenessMs,
    pair.backward.worstLatenessMs,
  ]);
  return { worstLatenessMs: Math.max(0, ...lateness), isRealTime, links: Object.fromEntries(byLink) };
}

function refuse(greeting: EmulatorGreeting): void {
  writeSync(OUTPUT, encodeLine(greeting));
}

function text(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
