import type { Duplex } from 'node:stream';
import { asLonghaulError, LonghaulError } from '@longhaul/shared';
import type { Representation } from '../entry/representation.ts';
import { resetConnection } from '../sockets/reset.ts';
import { HttpBlockConnection, type HttpBlockInit } from './http-block-connection.ts';
import { LaneStream } from './lane-stream.ts';
import type { OpenedLane, WayFacts } from './lane-ways.ts';

/**
 * Makes a way to the origin that has been sent these first bytes: along with its making over http, behind the handshake
 * over https. Over another chain, where one fails. Rejects with a `LonghaulError`.
 */
export type MakeWay = (
  firstBytes: Buffer,
  signal: AbortSignal,
) => Promise<WayFacts & { readonly stream: Duplex }>;

/** A lane's connection, whose way is made when the first block is asked for. */
export function openLane(
  makeWay: MakeWay,
  init: Omit<HttpBlockInit, 'stream'>,
  representation?: Representation,
): OpenedLane & { readonly connection: HttpBlockConnection } {
  const stream = new LaneStream();
  const given = new AbortController();
  stream.once('close', () => given.abort());
  const connection = new HttpBlockConnection({ ...init, stream }, representation);
  const way = make(stream, makeWay, given.signal);
  way.catch((failure) => stream.destroy(asLonghaulError(failure, 'origin-unreachable')));
  return { connection, way };
}

async function make(stream: LaneStream, makeWay: MakeWay, signal: AbortSignal): Promise<WayFacts> {
  const made = await makeWay(await stream.firstBytes, signal);
  if (stream.destroyed) {
    resetConnection(made.stream);
    throw new LonghaulError('origin-unreachable');
  }
  stream.attach(made.stream);
  return made;
}
