import type { TestProject } from 'vitest/node';
import { findNatsServer } from '../programs/nats-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of nats-server; empty where there is none. */
    natsServer: string;
  }
}

/** Tells the tests of every package where nats-server is, which `install.ts` has built. */
export function setup({ provide }: TestProject): void {
  provide('natsServer', findNatsServer() ?? '');
}
