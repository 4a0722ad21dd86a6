import type { MasterTest } from '../ask/test-master.ts';

/** The outcome of the master's test, for people. */
export function explainMasterTest(test: MasterTest): string {
  switch (test.result) {
    case 'ok':
      return `The master answers, in ${test.milliseconds} ms.`;
    case 'bad-address':
      return 'This is not an address of a master: give scheme and host, for example https://master.example.org.';
    case 'unreachable':
      return 'Nothing answers there: check the address, and whether the master runs.';
    case 'not-healthy':
      return `Something answers, but not as a healthy master does (status ${test.status}).`;
  }
}
