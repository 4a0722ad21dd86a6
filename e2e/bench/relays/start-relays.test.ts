import { describe, expect, it } from 'vitest';
import { LabRefusal } from '../../lab/refusal.ts';
import { RELAY_IDS } from './relay-id.ts';
import { chooseRelays } from './start-relays.ts';

const everything = (program: string) => `/usr/bin/${program}`;
const noSquid = (program: string) => (program === 'squid' ? undefined : everything(program));

describe('which relays take part', () => {
  it('all of them where all are installed', () => {
    expect(chooseRelays(undefined, everything)).toEqual({
      ids: RELAY_IDS,
      absent: [],
      programs: ['haproxy', 'nginx', 'squid'],
    });
  });

  it('a rival that is not installed is left out, with a sentence', () => {
    const { ids, absent, programs } = chooseRelays(undefined, noSquid);
    expect(ids).not.toContain('squid');
    expect(absent).toEqual(['`squid`: squid is not installed.']);
    expect(programs).not.toContain('squid');
  });

  it('asked for by name and not installed: refused with the command that installs it', () => {
    expect(() => chooseRelays(['direct', 'squid'], noSquid)).toThrow(LabRefusal);
    expect(() => chooseRelays(['direct', 'squid'], noSquid)).toThrow('apt-get install squid');
  });

  it('those asked for, in the order of the report', () => {
    expect(chooseRelays(['node-pipe', 'direct'], noSquid).ids).toEqual(['direct', 'node-pipe']);
  });
});
