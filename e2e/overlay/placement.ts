import { spawn } from 'node:child_process';
import type { Launch } from './service-process.ts';

/** Where the services of an overlay run; a service is `master` or a depot's id. */
export interface Placement {
  /** The address a service listens on. */
  readonly hostOf: (service: string) => string;
  readonly launchAt: (service: string) => Launch;
  /** Reads one of a service's own pages, from where the service runs. */
  readonly getText: (service: string, url: string) => Promise<string>;
}

/** Everything on one loopback address. */
export function onLoopback(host: '127.0.0.1' | '::1'): Placement {
  return {
    hostOf: () => host,
    launchAt: () => launchHere,
    getText: (_, url) => getText(host, url),
  };
}

/** Each service on a loopback address of its own; those that have none on 127.0.0.1. */
export function onLoopbackAddresses(addresses: Readonly<Record<string, string>>): Placement {
  const hostOf = (service: string) => addresses[service] ?? '127.0.0.1';
  return { hostOf, launchAt: () => launchHere, getText: (service, url) => getText(hostOf(service), url) };
}

const launchHere: Launch = ([program, ...args], cwd) =>
  spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });

/** The URL may have a name that only the overlay knows. */
async function getText(host: string, url: string): Promise<string> {
  const { port, pathname, protocol } = new URL(url);
  const { request } = protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    // Only over loopback and only about itself: whose certificate it is does not matter here.
    const asked = request({ host, port, path: pathname, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.once('end', () => resolve(text));
    });
    asked.once('error', reject).end();
  });
}
