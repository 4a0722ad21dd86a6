import { resolve } from 'node:path';
import { DEPOT_ID, formatJoinToken, JOIN_TOKEN_ID } from '@longhaul/shared';
import {
  commandLineWrong,
  openStateFolder,
  overlayKeyOf,
  readCommandLine,
  readConfigFile,
} from '@longhaul/shared/service';
import { readMasterConfig } from '../config.ts';
import { loadMasterKeys } from '../keys/key-files.ts';
import { askOwnMaster } from './ask-own-master.ts';
import { LONGEST_TOKEN_MS } from './enrolment-facts.ts';
import type { EnrolmentRequest } from './enrolment-requests.ts';
import { newJoinToken } from './new-join-token.ts';

const HOUR_MS = 3_600_000;
/** `--hours`: A working day and the night after it: whoever sets a depot up today does not need it next week. */
const DEFAULT_HOURS = 24;

const COMMANDS = ['create-token', 'list-tokens', 'revoke-token', 'revoke-depot'] as const;
export type EnrolmentCommand = (typeof COMMANDS)[number];

/** Whether the first word of a command line asks for one of these. */
export function isEnrolmentCommand(word: string | undefined): word is EnrolmentCommand {
  return COMMANDS.some((command) => command === word);
}

/**
 * `longhaul-master create-token`, `list-tokens`, `revoke-token`, `revoke-depot`: asks the running master.
 * `false` where the options are only asked for. Rejects with `command-line-wrong`, `config-invalid` and the
 * codes of `askOwnMaster`.
 */
export async function runEnrolment(
  command: EnrolmentCommand,
  args: readonly string[],
  write: (text: string) => void,
): Promise<boolean> {
  const asked = readCommandLine(args, ['config', 'site', 'depot', 'hours', 'token'], ['config']);
  if (asked.kind !== 'run') return false;
  const { values } = asked;
  const token = command === 'revoke-token' ? idOf(values.token) : undefined;
  const { config, baseDir } = readConfigFile(values.config, readMasterConfig);
  const keys = loadMasterKeys(openStateFolder(resolve(baseDir, config.stateDir)));
  const ask = (request: EnrolmentRequest) => askOwnMaster(config, keys, request);
  const site = named('--site', values.site) ?? config.bus?.site ?? config.prefixes.site;
  const depot = named('--depot', values.depot);
  if (command === 'create-token') {
    const { token: made, publicKey } = newJoinToken(overlayKeyOf(keys.enrolmentSecret).publicKey);
    const lifeMs = hours(values.hours) * HOUR_MS;
    const described = {
      id: made.id,
      publicKey,
      lifeMs,
      ...(site ? { site } : {}),
      ...(depot ? { depot } : {}),
    };
    await ask({ do: 'create-token', token: described });
    write(`${formatJoinToken(made)}\n`);
  } else if (command === 'list-tokens') {
    const { tokens } = await ask({ do: 'list-tokens' });
    for (const { id, state, until, usedBy, ...bound } of tokens) {
      const whom = [`site ${bound.site ?? 'any'}`, `depot ${usedBy ?? bound.depot ?? 'any new one'}`];
      write(`${id}  ${state.padEnd(7)}  until ${until}  ${whom.join('  ')}\n`);
    }
  } else if (token !== undefined) {
    await ask({ do: 'revoke-token', token });
    write('revoked\n');
  } else {
    if (depot === undefined) throw commandLineWrong('--depot is missing');
    await ask({ do: 'revoke-depot', depot });
    write('revoked\n');
  }
  return true;
}

/** Who has only the whole token at hand need not know which part of it is the id. */
function idOf(token: string | undefined): string {
  if (token === undefined) throw commandLineWrong('--token is missing');
  const id = token.trim().split('.')[1] ?? token.trim();
  if (JOIN_TOKEN_ID.test(id)) return id;
  throw commandLineWrong('--token must be the whole token, or its id as list-tokens tells it');
}

function named(option: string, value: string | undefined): string | undefined {
  if (value === undefined || DEPOT_ID.test(value)) return value;
  throw commandLineWrong(`${option} must be 1 to 10 of the characters a-z, 0-9 and -`);
}

function hours(text: string | undefined): number {
  const value = text === undefined ? DEFAULT_HOURS : Number(text);
  if (Number.isFinite(value) && value > 0 && value * HOUR_MS <= LONGEST_TOKEN_MS) return value;
  throw commandLineWrong(`--hours must be a number above 0, up to ${LONGEST_TOKEN_MS / HOUR_MS}`);
}
