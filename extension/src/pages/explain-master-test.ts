import type { AboutMaster } from '../ask/about-master.ts';
import type { MasterTest } from '../ask/test-master.ts';
import { sayCount, sayRtt } from '../texts/figures.ts';
import { say } from '../texts/say.ts';

const GOOD = new Set<MasterTest['result']>(['serves', 'some-origins']);

export function isGoodMaster({ result }: MasterTest): boolean {
  return GOOD.has(result);
}

/**
 * The outcome of the master's test for people, a sentence each: whether it serves them, then what it says of
 * itself.
 */
export function explainMasterTest(test: MasterTest): readonly string[] {
  const about = 'about' in test && test.about ? explainAbout(test.about) : [];
  return [outcomeOf(test), ...about];
}

function outcomeOf(test: MasterTest): string {
  switch (test.result) {
    case 'serves':
      return test.hasDepots ? say('testServes', { time: sayRtt(test.milliseconds) }) : say('testNoDepots');
    case 'some-origins':
      return say('testSomeOrigins', { time: sayRtt(test.milliseconds) });
    case 'bad-address':
      return say('testBadAddress');
    case 'unreachable':
      return say('testUnreachable');
    case 'no-access':
      return say('leftNoAccess');
    case 'no-master':
      return say('testNoMaster');
    case 'elsewhere':
      return say('testElsewhere', { address: test.address });
    case 'refused':
      return say('testRefused', { message: test.message });
  }
}

function explainAbout({ name, version, note, depotsUp, depots }: AboutMaster): readonly string[] {
  return [
    say('testName', { name: version ? `${name} (Longhaul ${version})` : name }),
    say('testDepotsUp', { up: sayCount(depotsUp), all: sayCount(depots) }),
    ...(note === '' ? [] : [say('testNote', { note })]),
  ];
}
