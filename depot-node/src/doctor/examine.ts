import type { DescriptorUsers, ThreadTls } from '../sockets/descriptor-limits.ts';
import type { LegTable } from '../sockets/leg-options.ts';
import type { AskMaster } from './ask-master.ts';
import { checkBuffers, checkTcpMemory, type PathGoal } from './buffer-checks.ts';
import { checkMasterClock, checkTimeService } from './clock-checks.ts';
import type { Finding } from './finding.ts';
import {
  checkCongestionControls,
  checkKernel,
  checkMptcp,
  checkPacing,
  checkTcpSwitches,
} from './kernel-checks.ts';
import type { Machine } from './machine.ts';
import { checkRegistration } from './registration-checks.ts';
import { checkBacklog, checkDescriptors, checkPipes } from './resource-checks.ts';
import { checkWaysOut } from './route-checks.ts';

/** What the machine is held against. */
export interface Demands {
  readonly sockets: LegTable;
  /** What has descriptors, as configured. */
  readonly users: DescriptorUsers;
  readonly threadTls?: ThreadTls;
  readonly goal: PathGoal;
  /** Left out without a configuration. */
  readonly master: AskMaster | undefined;
}

/** Runs every check that makes sense on this machine, in the order in which they are shown. */
export async function examine(machine: Machine, demands: Demands): Promise<Finding[]> {
  const { master } = demands;
  const isLinux = machine.platform === 'linux';
  return [
    ...checkKernel(machine),
    ...(isLinux ? checkTcp(machine, demands) : []),
    checkDescriptors(machine, demands.users, demands.threadTls),
    ...checkPipes(machine),
    await checkWaysOut(machine),
    checkTimeService(machine),
    ...(master
      ? [await checkMasterClock(master.readOffsetMs), ...(await checkRegistration(master.tryRegistration))]
      : []),
  ];
}

function checkTcp(machine: Machine, { sockets, users, threadTls, goal }: Demands): Finding[] {
  return [
    ...checkBuffers(machine, sockets, goal),
    checkTcpMemory(machine, sockets, users.transfers),
    ...checkCongestionControls(machine, sockets),
    checkPacing(machine, sockets),
    checkMptcp(machine, sockets),
    ...checkTcpSwitches(machine),
    checkBacklog(machine, threadTls),
  ];
}
