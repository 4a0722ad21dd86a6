import type { TlsMaterial } from '@longhaul/shared/service';
import type { KernelBuffer, MemoryCalls } from '../kernel/libc.ts';
import { OPENSSL, type OpenSslCalls } from '../kernel/openssl-calls.ts';

/** Certificate and key that a listener has for one name, beside its own. */
export interface NamedTls extends TlsMaterial {
  /** In lower case. */
  readonly host: string;
}

/** What a listener proves to be. */
export interface ListenerMaterial extends TlsMaterial {
  /** For clients that ask for another name (SNI). */
  readonly named?: readonly NamedTls[];
}

/** What connections of one kind are secured with; PEM. */
export type ContextSpec =
  | {
      readonly role: 'server';
      readonly cert: string;
      readonly key: string;
      readonly named?: readonly NamedTls[];
      /** Those of key agreement that it takes, as OpenSSL names them. */
      readonly groups: string;
      /** Name, secret for signatures and secret for encryption of session tickets: 80 random bytes. */
      readonly ticketKeys: Uint8Array;
    }
  | { readonly role: 'client'; readonly authorities: readonly string[] };

/** What OpenSSL 3 wants of keys for session tickets: 16 bytes of name, 32 and 32 of secrets. */
export const TICKET_KEY_BYTES = 80;

/** Read from the kernel at once: four records, so that a fast sender costs a quarter of the calls. */
const READ_BUFFER_BYTES = 65_536;

/** The only protocol that is spoken over these connections, as TLS names it: its length, its name. */
const PROTOCOLS = Buffer.from('\x08http/1.1', 'latin1');

/** What contexts are made by. */
export interface ContextCalls {
  readonly openSsl: OpenSslCalls;
  readonly kernel: Pick<MemoryCalls, 'buffer'>;
}

/**
 * Makes what connections are secured with; its references are the caller's. The names of `ciphers` are those
 * of Node's option. A server answers no client's list of protocols (ALPN): OpenSSL asks for that by a call
 * back, and HTTP/1.1 is what holds without an answer. Throws what OpenSSL says.
 */
export function makeContext(calls: ContextCalls, spec: ContextSpec, ciphers: string): number {
  const { control, mode, option, version } = OPENSSL;
  const isServer = spec.role === 'server';
  const context = calls.openSsl.newContext(isServer);
  if (context === 0) throw failure(calls, 'no context');
  try {
    const suites = ciphers.split(':');
    const isSuite = (name: string) => name.startsWith('TLS_');
    checked(
      calls,
      'ciphers',
      calls.openSsl.setCiphers(context, suites.filter((name) => !isSuite(name)).join(':')),
    );
    checked(calls, 'cipher suites', calls.openSsl.setCipherSuites(context, suites.filter(isSuite).join(':')));
    checked(calls, 'version', calls.openSsl.contextControl(context, control.minVersion, version.tls12, 0));
    calls.openSsl.contextControl(
      context,
      control.mode,
      mode.partialWrite | mode.movingBuffer | mode.releaseBuffers,
      0,
    );
    // A read comes back after records that bring nothing, as `TlsEnd` counts them.
    calls.openSsl.contextControl(context, control.clearMode, mode.autoRetry, 0);
    calls.openSsl.contextControl(context, control.readAhead, 1, 0);
    calls.openSsl.setReadBuffer(context, READ_BUFFER_BYTES);
    // Sessions are in the tickets that clients keep: nothing here grows with their number.
    calls.openSsl.contextControl(context, control.sessionCache, 0, 0);
    calls.openSsl.setContextOptions(
      context,
      option.noRenegotiation | (isServer ? option.cipherServerPreference : 0),
    );
    if (spec.role === 'server') {
      useGroups(calls, context, spec.groups);
      useCertificate(calls, context, spec.cert, spec.key);
      setTicketKeys(calls, context, spec.ticketKeys);
    } else {
      trust(calls, context, spec.authorities);
    }
    return context;
  } catch (failed) {
    calls.openSsl.freeContext(context);
    throw failed;
  }
}

/** A context with those of other names that it may be exchanged for. */
export interface OpenContext {
  readonly context: number;
  /** Connections have references of their own. */
  readonly free: () => void;
}

/** Makes a context as {@link makeContext} does, and one for each name that its listener has a certificate for. */
export function openContext(calls: ContextCalls, spec: ContextSpec, ciphers: string): OpenContext {
  const context = makeContext(calls, spec, ciphers);
  const contexts = new Map<string, number>();
  let forget: (() => void) | undefined;
  const free = () => {
    forget?.();
    for (const one of [context, ...contexts.values()]) calls.openSsl.freeContext(one);
  };
  try {
    if (spec.role === 'server') {
      for (const { host, cert, key } of spec.named ?? [])
        contexts.set(host, makeContext(calls, { ...spec, cert, key }, ciphers));
    }
    if (contexts.size > 0) forget = calls.openSsl.chooseByName(context, (name) => contexts.get(name));
  } catch (failed) {
    free();
    throw failed;
  }
  return { context, free };
}

/** Tickets are made and read with these keys from now on; older ones lead to a whole handshake. */
export function setTicketKeys(calls: ContextCalls, context: number, keys: Uint8Array): void {
  const memory = inMemory(calls, keys);
  const result = calls.openSsl.contextControl(
    context,
    OPENSSL.control.ticketKeys,
    memory.bytes.byteLength,
    memory.address,
  );
  checked(calls, 'ticket keys', result);
}

function useGroups(calls: ContextCalls, context: number, groups: string): void {
  const text = inMemory(calls, Buffer.from(`${groups}\0`, 'latin1'));
  checked(calls, 'groups', calls.openSsl.contextControl(context, OPENSSL.control.groups, 0, text.address));
}

function useCertificate(calls: ContextCalls, context: number, cert: string, key: string): void {
  let isFirst = true;
  for (const certificate of readCertificates(calls, cert)) {
    if (isFirst) checked(calls, 'certificate', calls.openSsl.setCertificate(context, certificate));
    // The chain keeps what it is given; what it does not take is freed by its reader.
    else if (calls.openSsl.contextControl(context, OPENSSL.control.addChainCertificate, 0, certificate) === 1)
      continue;
    calls.openSsl.freeCertificate(certificate);
    isFirst = false;
  }
  if (isFirst) throw new Error('no certificate');
  withText(calls, key, (memory) => {
    const found = calls.openSsl.readPrivateKey(memory);
    if (found === 0) throw failure(calls, 'no private key');
    const result = calls.openSsl.setPrivateKey(context, found);
    calls.openSsl.freePrivateKey(found);
    checked(calls, 'private key', result);
  });
  checked(calls, 'private key', calls.openSsl.checkPrivateKey(context));
}

function trust(calls: ContextCalls, context: number, authorities: readonly string[]): void {
  const store = calls.openSsl.storeOf(context);
  for (const authority of authorities) {
    for (const certificate of readCertificates(calls, authority)) {
      calls.openSsl.trustCertificate(store, certificate);
      calls.openSsl.freeCertificate(certificate);
    }
  }
  calls.openSsl.takeError();
  calls.openSsl.setVerify(context, OPENSSL.verifyPeer);
  const protocols = inMemory(calls, PROTOCOLS);
  if (calls.openSsl.setProtocols(context, protocols.address, protocols.bytes.byteLength) !== 0)
    throw failure(calls, 'protocols');
}

/** All certificates of a text in PEM; each is the caller's. */
function readCertificates(calls: ContextCalls, pem: string): number[] {
  const found: number[] = [];
  withText(calls, pem, (memory) => {
    for (
      let next = calls.openSsl.readCertificate(memory);
      next !== 0;
      next = calls.openSsl.readCertificate(memory)
    )
      found.push(next);
  });
  // That the text is over is an error to OpenSSL.
  calls.openSsl.takeError();
  return found;
}

function withText(calls: ContextCalls, text: string, use: (memory: number) => void): void {
  const bytes = inMemory(calls, Buffer.from(text, 'utf8'));
  const memory = calls.openSsl.newMemory();
  try {
    calls.openSsl.writeMemory(memory, bytes.address, bytes.bytes.byteLength);
    use(memory);
  } finally {
    calls.openSsl.freeMemory(memory);
  }
}

/** A copy of these bytes for a call; it must live until the call has been made. */
function inMemory({ kernel }: ContextCalls, bytes: Uint8Array): KernelBuffer {
  const memory = kernel.buffer(bytes.length);
  new Uint8Array(memory.bytes.buffer).set(bytes);
  return memory;
}

function checked(calls: ContextCalls, what: string, result: number): void {
  if (result !== 1) throw failure(calls, what);
}

function failure(calls: ContextCalls, what: string): Error {
  return new Error(`${what}: ${calls.openSsl.takeError()?.text ?? 'refused'}`);
}
