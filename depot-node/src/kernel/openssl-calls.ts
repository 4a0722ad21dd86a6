import type { Libc } from './libc.ts';

/**
 * Calls of the OpenSSL that Node itself is linked with. Objects are addresses; whoever makes one frees it,
 * unless it was given to another one that keeps it.
 */
export interface OpenSslCalls {
  /** Major and minor number of the library. */
  readonly version: () => { readonly major: number; readonly minor: number };
  /** Makes a context, for accepting or for connecting; 0 for none. */
  readonly newContext: (isServer: boolean) => number;
  readonly freeContext: (context: number) => void;
  readonly contextControl: (context: number, command: number, number: number, address: number) => number;
  readonly setContextOptions: (context: number, options: number) => void;
  /** The ciphers of TLS 1.2, and those of TLS 1.3: 1 when it has worked. */
  readonly setCiphers: (context: number, list: string) => number;
  readonly setCipherSuites: (context: number, list: string) => number;
  readonly setReadBuffer: (context: number, sizeBytes: number) => void;
  readonly setVerify: (context: number, mode: number) => void;
  readonly setCertificate: (context: number, certificate: number) => number;
  readonly setPrivateKey: (context: number, key: number) => number;
  readonly checkPrivateKey: (context: number) => number;
  /** 0 when it has worked: of all the calls here this one alone. */
  readonly setProtocols: (context: number, address: number, sizeBytes: number) => number;
  /**
   * Connections of a server's context that ask for a name go on with the context that `choose` gives for it,
   * in lower case; with their own where it gives none. Call the result before the context is freed.
   */
  readonly chooseByName: (context: number, choose: (name: string) => number | undefined) => () => void;
  readonly storeOf: (context: number) => number;
  readonly trustCertificate: (store: number, certificate: number) => number;
  /** The next certificate of a text in PEM; 0 behind the last one. */
  readonly readCertificate: (text: number) => number;
  readonly freeCertificate: (certificate: number) => void;
  readonly readPrivateKey: (text: number) => number;
  readonly freePrivateKey: (key: number) => void;
  /** An empty memory to read from and write to. */
  readonly newMemory: () => number;
  readonly freeMemory: (memory: number) => void;
  /** Bytes that were written or read; 0 or below for none. */
  readonly writeMemory: (memory: number, address: number, sizeBytes: number) => number;
  readonly readMemory: (memory: number, address: number, sizeBytes: number) => number;
  readonly pendingIn: (memory: number) => number;

  readonly newConnection: (context: number) => number;
  /** Frees the memories that it reads and writes, too. */
  readonly freeConnection: (connection: number) => void;
  readonly connectionControl: (connection: number, command: number, number: number, name: string) => number;
  readonly beginAs: (connection: number, role: 'server' | 'client') => void;
  /** The memory is the connection's from then on, until it is told to read elsewhere. */
  readonly readFromMemory: (connection: number, memory: number) => void;
  readonly writeToMemory: (connection: number, memory: number) => void;
  /** Reads and writes there; the descriptor stays the caller's. */
  readonly useDescriptor: (connection: number, descriptor: number) => number;
  readonly readFromDescriptor: (connection: number, descriptor: number) => number;
  readonly writeToDescriptor: (connection: number, descriptor: number) => number;
  readonly verifyHost: (connection: number, host: string) => number;
  readonly verifyAddress: (connection: number, address: string) => number;
  readonly handshake: (connection: number) => number;
  /** 1 when bytes were moved; how many stands at `count`. */
  readonly read: (connection: number, address: number, sizeBytes: number, count: number) => number;
  readonly write: (connection: number, address: number, sizeBytes: number, count: number) => number;
  /** Forgets the error of the calls before: what `errno` says then is of the next one. */
  readonly forgetErrno: () => void;
  readonly errno: () => number;
  readonly shutdown: (connection: number) => number;
  readonly errorOf: (connection: number, result: number) => number;
  readonly wasResumed: (connection: number) => boolean;
  readonly verifyResult: (connection: number) => number;
  /** What a result of verification means. */
  readonly verifyText: (result: number) => string;
  /** Takes all errors of this thread off; the text of the first one, or nothing. */
  readonly takeError: () => { readonly reason: number; readonly text: string } | undefined;
}

/** ssl.h and tls1.h: numbers that calls are made with; the same in every OpenSSL 3. */
export const OPENSSL = {
  control: {
    addChainCertificate: 14,
    mode: 33,
    clearMode: 78,
    readAhead: 41,
    sessionCache: 44,
    nameCallBack: 53,
    nameArgument: 54,
    hostname: 55,
    ticketKeys: 59,
    groups: 92,
    minVersion: 123,
    maxVersion: 124,
  },
  mode: { partialWrite: 1, movingBuffer: 2, autoRetry: 4, releaseBuffers: 16 },
  option: { cipherServerPreference: 1 << 22, noRenegotiation: 1 << 30 },
  version: { tls12: 0x0303 },
  verifyPeer: 1,
  verifiedWell: 0,
  error: { ssl: 1, wantRead: 2, wantWrite: 3, syscall: 5, ended: 6 },
  /** Reason of an end without a word of goodbye. */
  unexpectedEnd: 294,
} as const;

/** The longest text of an error. */
const ERROR_TEXT_BYTES = 256;
/** err.h: the reason is in these bits of an error. */
const REASON_BITS = 0x7f_ffff;

/** Binds the library; throws where this Node does not offer it. */
export function bindOpenSslCalls(libc: Pick<Libc, 'bind' | 'buffer' | 'callBack' | 'errno'>): OpenSslCalls {
  const { bind, buffer } = libc;
  const object = (name: string, ...parameters: string[]) => bind(name, 'intptr_t', ...parameters);
  const number = (name: string, ...parameters: string[]) => bind(name, 'int', ...parameters);
  const nothing = (name: string) => bind(name, 'void', 'intptr_t') as unknown as (address: number) => void;
  const [major, minor] = [
    bind('OPENSSL_version_major', 'uint'),
    bind('OPENSSL_version_minor', 'uint'),
  ] as const;
  const methods = { server: object('TLS_server_method'), client: object('TLS_client_method') };
  const newContext = object('SSL_CTX_new', 'intptr_t');
  const setContextOptions = bind('SSL_CTX_set_options', 'uint64_t', 'intptr_t', 'uint64_t');
  const setReadBuffer = bind('SSL_CTX_set_default_read_buffer_len', 'void', 'intptr_t', 'size_t');
  const setVerify = bind('SSL_CTX_set_verify', 'void', 'intptr_t', 'int', 'intptr_t');
  const readCertificate = object('PEM_read_bio_X509', 'intptr_t', 'intptr_t', 'intptr_t', 'intptr_t');
  const readPrivateKey = object('PEM_read_bio_PrivateKey', 'intptr_t', 'intptr_t', 'intptr_t', 'intptr_t');
  const memoryKind = object('BIO_s_mem')();
  const newMemory = object('BIO_new', 'intptr_t');
  const readFrom = bind('SSL_set0_rbio', 'void', 'intptr_t', 'intptr_t');
  const writeTo = bind('SSL_set0_wbio', 'void', 'intptr_t', 'intptr_t');
  const begin = { server: nothing('SSL_set_accept_state'), client: nothing('SSL_set_connect_state') };
  const parameterOf = object('SSL_get0_param', 'intptr_t');
  const setHost = number('X509_VERIFY_PARAM_set1_host', 'intptr_t', 'str', 'size_t');
  const setAddress = number('X509_VERIFY_PARAM_set1_ip_asc', 'intptr_t', 'str');
  const wasResumed = number('SSL_session_reused', 'intptr_t');
  const verifyResult = bind('SSL_get_verify_result', 'long', 'intptr_t');
  const verifyText = bind('X509_verify_cert_error_string', 'str', 'long') as unknown as (
    result: number,
  ) => string;
  const firstError = bind('ERR_get_error', 'ulong');
  const clearErrors = bind('ERR_clear_error', 'void') as unknown as () => void;
  const errorText = bind('ERR_error_string_n', 'void', 'ulong', 'intptr_t', 'size_t');
  const text = buffer(ERROR_TEXT_BYTES);
  const contextControl = bind('SSL_CTX_ctrl', 'long', 'intptr_t', 'int', 'long', 'intptr_t');
  return {
    chooseByName: bindNames(libc, contextControl),
    version: () => ({ major: major(), minor: minor() }),
    newContext: (isServer) => newContext(isServer ? methods.server() : methods.client()),
    freeContext: nothing('SSL_CTX_free'),
    contextControl,
    setContextOptions: (context, options) => void setContextOptions(context, options),
    setCiphers: number('SSL_CTX_set_cipher_list', 'intptr_t', 'str'),
    setCipherSuites: number('SSL_CTX_set_ciphersuites', 'intptr_t', 'str'),
    setReadBuffer: (context, sizeBytes) => void setReadBuffer(context, sizeBytes),
    setVerify: (context, mode) => void setVerify(context, mode, 0),
    setCertificate: number('SSL_CTX_use_certificate', 'intptr_t', 'intptr_t'),
    setPrivateKey: number('SSL_CTX_use_PrivateKey', 'intptr_t', 'intptr_t'),
    checkPrivateKey: number('SSL_CTX_check_private_key', 'intptr_t'),
    setProtocols: number('SSL_CTX_set_alpn_protos', 'intptr_t', 'intptr_t', 'uint'),
    storeOf: object('SSL_CTX_get_cert_store', 'intptr_t'),
    trustCertificate: number('X509_STORE_add_cert', 'intptr_t', 'intptr_t'),
    readCertificate: (memory) => readCertificate(memory, 0, 0, 0),
    freeCertificate: nothing('X509_free'),
    readPrivateKey: (memory) => readPrivateKey(memory, 0, 0, 0),
    freePrivateKey: nothing('EVP_PKEY_free'),
    newMemory: () => newMemory(memoryKind),
    freeMemory: nothing('BIO_free'),
    writeMemory: number('BIO_write', 'intptr_t', 'intptr_t', 'int'),
    readMemory: number('BIO_read', 'intptr_t', 'intptr_t', 'int'),
    pendingIn: bind('BIO_ctrl_pending', 'size_t', 'intptr_t'),
    newConnection: object('SSL_new', 'intptr_t'),
    freeConnection: nothing('SSL_free'),
    connectionControl: bind('SSL_ctrl', 'long', 'intptr_t', 'int', 'long', 'str'),
    beginAs: (connection, role) => begin[role](connection),
    readFromMemory: (connection, memory) => void readFrom(connection, memory),
    writeToMemory: (connection, memory) => void writeTo(connection, memory),
    useDescriptor: number('SSL_set_fd', 'intptr_t', 'int'),
    readFromDescriptor: number('SSL_set_rfd', 'intptr_t', 'int'),
    writeToDescriptor: number('SSL_set_wfd', 'intptr_t', 'int'),
    verifyHost: (connection, host) => setHost(parameterOf(connection), host, 0),
    verifyAddress: (connection, address) => setAddress(parameterOf(connection), address),
    handshake: number('SSL_do_handshake', 'intptr_t'),
    read: number('SSL_read_ex', 'intptr_t', 'intptr_t', 'size_t', 'intptr_t'),
    write: number('SSL_write_ex', 'intptr_t', 'intptr_t', 'size_t', 'intptr_t'),
    forgetErrno: () => void libc.errno(0),
    errno: () => libc.errno(),
    shutdown: number('SSL_shutdown', 'intptr_t'),
    errorOf: number('SSL_get_error', 'intptr_t', 'int'),
    wasResumed: (connection) => wasResumed(connection) === 1,
    verifyResult,
    verifyText,
    takeError: () => {
      const error = firstError();
      if (error === 0) return undefined;
      errorText(error, text.address, ERROR_TEXT_BYTES);
      const said = Buffer.from(text.bytes.buffer, 0, ERROR_TEXT_BYTES).toString('latin1').split('\0', 1)[0];
      clearErrors();
      return { reason: error & REASON_BITS, text: said ?? '' };
    },
  };
}

/** Names are host names, not anything else that a later TLS may know. */
const HOST_NAME = 0;
/** The handshake goes on. */
const GO_ON = 0;

/** OpenSSL asks by a call back: one for each thread, which knows contexts by the number that was left with them. */
function bindNames(
  { bind, callBack }: Pick<Libc, 'bind' | 'callBack'>,
  contextControl: OpenSslCalls['contextControl'],
): OpenSslCalls['chooseByName'] {
  const nameOf = bind('SSL_get_servername', 'str', 'intptr_t', 'int') as unknown as (
    connection: number,
    kind: number,
  ) => string | null;
  const goOnWith = bind('SSL_set_SSL_CTX', 'intptr_t', 'intptr_t', 'intptr_t');
  const setCallBack = bind('SSL_CTX_callback_ctrl', 'long', 'intptr_t', 'int', 'intptr_t');
  const choosers = new Map<number, (name: string) => number | undefined>();
  let called: number | undefined;
  let newest = 0;
  return (context, choose) => {
    // Nothing may be thrown through OpenSSL.
    called ??= callBack((connection, _alert, number) => {
      try {
        const chosen = choosers.get(number)?.(nameOf(connection, HOST_NAME)?.toLowerCase() ?? '');
        if (chosen !== undefined) goOnWith(connection, chosen);
      } catch {
        return GO_ON;
      }
      return GO_ON;
    });
    newest += 1;
    const number = newest;
    choosers.set(number, choose);
    setCallBack(context, OPENSSL.control.nameCallBack, called);
    contextControl(context, OPENSSL.control.nameArgument, 0, number);
    return () => choosers.delete(number);
  };
}
