import type { MasterTest } from '../ask/test-master.ts';

const GOOD = new Set<MasterTest['result']>(['serves', 'some-origins']);

export function isGoodMaster({ result }: MasterTest): boolean {
  return GOOD.has(result);
}

/** The outcome of the master's test, for people. */
export function explainMasterTest(test: MasterTest): string {
  switch (test.result) {
    case 'serves':
      return test.hasDepots
        ? `This master serves you: it answered in ${test.milliseconds} ms.`
        : 'This master serves you, but has no depot now: downloads stay direct until it has.';
    case 'some-origins':
      return `This master answers in ${test.milliseconds} ms. From where you are it serves only sites that its operator has named; ask there if you miss one.`;
    case 'bad-address':
      return 'This is not an address of a master: give its host, for example master.example.org, and nothing after it.';
    case 'unreachable':
      return 'Nothing answers there: check the address, and whether the master runs.';
    case 'no-master':
      return 'Something answers there, but not as a master does: check the address.';
    case 'elsewhere':
      return `This master calls itself ${test.address}: set that address, or its links are not followed.`;
    case 'refused':
      return `The master refused: ${test.message}`;
  }
}
