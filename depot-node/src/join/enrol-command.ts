import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { encodeBase64url, type JoinToken, LonghaulError, parseJoinToken } from '@longhaul/shared';
import { fileReason, keyPairOf, openStateFolder, readCommandLine } from '@longhaul/shared/service';
import { type DepotFiles, loadDepotFiles } from '../config-file.ts';
import { MasterClient } from '../directory/master-client.ts';
import { type MastersProof, proofByKey } from '../directory/masters-proof.ts';
import {
  type Identity,
  loadIdentity,
  loadNextIdentity,
  readOverlayKey,
  saveOverlayKey,
  takeNextIdentity,
} from '../identity.ts';
import { createResolver } from '../names/resolver.ts';
import { createDial } from '../sockets/dial.ts';
import { Trust } from '../sockets/trust.ts';

/** Somebody waits for it. */
const CONNECT_TIMEOUT_MS = 5_000;

interface EnrolComponents {
  readonly write: (text: string) => void;
  readonly stdin: NodeJS.ReadableStream;
  readonly nowMs: () => number;
}

/**
 * `longhaul-depot join`: makes this depot's key, lets a master of the configured name know it by a token, and
 * keeps what masters are known by. `false` where the options are only asked for. Rejects with `join-token-*`,
 * `depot-key-*`, `master-*`, `state-unusable`.
 */
export async function runJoin(args: readonly string[], components: EnrolComponents): Promise<boolean> {
  const asked = readCommandLine(args, ['config', 'token-file'], ['config', 'token-file']);
  if (asked.kind !== 'run') return false;
  const files = loadDepotFiles(asked.values.config);
  const { config } = files;
  const token = await readToken(asked.values['token-file'], components.stdin);
  const state = openStateFolder(files.stateDir);
  const identity = loadIdentity(config.id, state);
  const tokenKey = keyPairOf(Buffer.from(token.seed, 'base64url'));
  const proof = proofByKey(token.overlayKey, (content) => encodeBase64url(tokenKey.sign(content)));
  await clientOf(files, identity, proof, components).join(config.site ?? config.id, token.id);
  await saveOverlayKey(state, token.overlayKey);
  components.write(`joined as ${config.id}\n`);
  return true;
}

/**
 * `longhaul-depot rotate-key`: makes another key, lets a master know it by the one before, and puts it in
 * that one's place. What was broken off goes on when it is called again. `false` and rejects as `runJoin`,
 * and with `depot-not-joined`.
 */
export async function runRotateKey(args: readonly string[], components: EnrolComponents): Promise<boolean> {
  const asked = readCommandLine(args, ['config'], ['config']);
  if (asked.kind !== 'run') return false;
  const files = loadDepotFiles(asked.values.config);
  const { config } = files;
  const state = openStateFolder(files.stateDir);
  const overlayKey = readOverlayKey(state);
  if (overlayKey === undefined) throw new LonghaulError('depot-not-joined');
  const [before, next] = [loadIdentity(config.id, state), loadNextIdentity(config.id, state)];
  const proof = proofByKey(overlayKey);
  const askAs = (identity: Identity) => clientOf(files, identity, proof, components);
  try {
    await askAs(before).renewKey(before.publicKey, next);
  } catch (failure) {
    if (!(failure instanceof LonghaulError) || failure.code !== 'depot-signature-wrong') throw failure;
    // The master has taken the next one already, and its answer was lost.
    await askAs(next).renewKey(before.publicKey, next);
  }
  await takeNextIdentity(state);
  components.write('the depot has another key: start it again, so that it uses that one\n');
  return true;
}

function clientOf(
  { config, trustedAuthorities }: DepotFiles,
  identity: Identity,
  proof: MastersProof,
  { nowMs }: EnrolComponents,
): MasterClient {
  const dial = createDial({
    resolve: createResolver({ names: config.names, servers: config.resolver.servers, nowMs }),
    policy: config.addresses,
    isOverlayAddress: () => false,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const trust = new Trust(trustedAuthorities);
  return new MasterClient({ masterUrl: config.master.url, identity, proof, dial, trust, nowMs });
}

/** `-` is the standard input, so that the token need not be in a file or in the list of processes. */
async function readToken(path: string, stdin: NodeJS.ReadableStream): Promise<JoinToken> {
  const read = async () => (path === '-' ? await text(stdin) : readFileSync(path, 'utf8'));
  const content = await read().catch((cause: unknown) => {
    throw new LonghaulError('join-token-malformed', { detail: `${path}: ${fileReason(cause)}`, cause });
  });
  const token = parseJoinToken(content);
  if (!token.ok) throw token.error;
  return token.value;
}
