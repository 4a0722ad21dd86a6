import type { Duplex } from 'node:stream';
import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import { holdDescriptor } from '../sockets/held-descriptor.ts';
import type { LegClass } from '../sockets/leg-options.ts';
import { createTcpInfoReader, type TcpInfoCalls } from '../sockets/tcp-info.ts';
import { PacedConnection } from './paced-connection.ts';
import { ShareUse, sharesByUse } from './share-use.ts';

/** Shares follow the measured use this often, so that over a few seconds they are even. */
const LOOK_MS = 1000;
/** Jobs that come or go within this time change the shares of the others once; what has left is done within it. */
const SETTLE_MS = 100;

export interface PacedTransfer {
  readonly jobId: string;
  /** Whom the connection leads to. */
  readonly legClass: LegClass;
  /**
   * Whether somebody else takes over the descriptor of the stream. Then a duplicate is kept until it leaves, and
   * neither end nor reset of the connection gets out before.
   */
  readonly handedOver?: boolean;
}

/** Lets a connection go on unpaced, or as its class is configured, once the kernel has sent what it still holds. */
export type LeaveUplink = () => void;

export interface UplinkUse {
  readonly rateBps: number;
  /** Jobs that share it now. */
  readonly jobs: number;
  /** The largest share of a job: what one that wants all it can get has. */
  readonly topShareBps: number;
}

export interface UplinkPacer {
  /** Lets what is sent over a connection share the uplink until it leaves. All connections of a job have one share. */
  readonly join: (stream: Duplex, transfer: PacedTransfer) => LeaveUplink;
  readonly use: () => UplinkUse;
}

interface UplinkPacerInit {
  /** Payload bits per second, as all rates. */
  readonly rateBps: number;
  readonly kernel: TcpInfoCalls & DescriptorCalls;
  /** The configured bound of one connection. */
  readonly maxPacingBps: (legClass: LegClass) => number | undefined;
  /** Told each time the kernel refuses to pace a connection, with the errno, below 0. */
  readonly onRefused: (errno: number) => void;
}

interface Job {
  readonly id: string;
  readonly use: ShareUse;
  readonly members: Set<Member>;
}

interface Member {
  readonly job: Job;
  readonly connection: PacedConnection;
}

/**
 * Shares the uplink evenly among jobs, and the share of a job among its connections, by the kernel's pacing. Once a
 * second what they sent decides anew: who was held back by his share wants all he can get, the others somewhat more
 * than they used, and what these leave goes to those. Nothing runs while nobody has joined.
 */
export function createUplinkPacer(init: UplinkPacerInit): UplinkPacer {
  const { rateBps, kernel } = init;
  const nowMs = () => performance.now();
  const readInfo = createTcpInfoReader(kernel);
  const jobs = new Map<string, Job>();
  /** Who was last paced on a stream. */
  const members = new WeakMap<Duplex, Member>();
  /** Those that have left, while the kernel still sends what it holds of theirs. */
  const draining = new Set<Member>();
  let looking: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;

  /** Takes in what was sent; false once the connection is over, which its owner may not have said. */
  const count = ({ job, connection }: Member): boolean => {
    const sentBytes = connection.count();
    job.use.note(sentBytes ?? 0);
    return sentBytes !== undefined;
  };
  const forget = (member: Member) => {
    const { job, connection } = member;
    connection.forget();
    draining.delete(member);
    job.members.delete(member);
    if (job.members.size === 0 && jobs.get(job.id) === job) jobs.delete(job.id);
    if (jobs.size > 0) return;
    clearInterval(looking);
    clearTimeout(settling);
    looking = undefined;
    settling = undefined;
  };
  const release = (member: Member) => {
    member.connection.unpace();
    forget(member);
  };
  const paceAll = () => {
    const now = nowMs();
    for (const [job, shareBps] of sharesByUse(rateBps, jobs.values())) {
      job.use.setShare(shareBps, now);
      const connections = [...job.members].map(({ connection }) => connection);
      for (const [connection, partBps] of sharesByUse(shareBps, connections)) connection.pace(partBps, now);
    }
  };
  const lookAtAll = () => {
    const now = nowMs();
    for (const job of jobs.values()) {
      for (const member of job.members) {
        if (count(member)) member.connection.use.look(now);
        else forget(member);
      }
      job.use.look(now);
    }
    paceAll();
  };
  const settle = () => {
    settling = undefined;
    for (const member of draining) if (!count(member) || !member.connection.isDraining) release(member);
    paceAll();
    if (draining.size > 0) settleSoon();
  };
  const settleSoon = () => {
    if (jobs.size === 0) return;
    looking ??= setInterval(lookAtAll, LOOK_MS).unref();
    settling ??= setTimeout(settle, SETTLE_MS).unref();
  };
  const leave = (member: Member) => {
    if (!member.job.members.has(member)) return;
    if (count(member) && member.connection.isDraining) draining.add(member);
    else release(member);
    settleSoon();
  };
  /** The job, with at most an equal share from its first byte on. */
  const jobOf = (id: string, now: number): Job => {
    const known = jobs.get(id);
    if (known) return known;
    const job = { id, use: new ShareUse(now), members: new Set<Member>() };
    jobs.set(id, job);
    job.use.setShare(rateBps / jobs.size, now);
    return job;
  };

  return {
    join: (stream, { jobId, legClass, handedOver = false }) => {
      const held = holdDescriptor(kernel, stream, handedOver);
      if (held?.descriptor() === undefined) return () => {};
      // Its last answer may not have gone out yet.
      const former = members.get(stream);
      if (former) forget(former);
      const now = nowMs();
      const job = jobOf(jobId, now);
      const connection = new PacedConnection({
        kernel,
        readInfo,
        held,
        handedOver,
        maxPacingBps: init.maxPacingBps(legClass),
        onRefused: init.onRefused,
        nowMs: now,
      });
      const member = { job, connection };
      members.set(stream, member);
      job.members.add(member);
      connection.pace(job.use.shareBps / job.members.size, now);
      settleSoon();
      return () => leave(member);
    },
    use: () => ({
      rateBps,
      jobs: jobs.size,
      topShareBps: [...jobs.values()].reduce(
        (top, { use }) => Math.max(top, use.shareBps),
        jobs.size === 0 ? rateBps : 0,
      ),
    }),
  };
}
