/** What master and depots have in common as services: the second entry of this package, with Node's built-ins. */
export * from './broken-request.ts';
export * from './config-file.ts';
export * from './config-schemas.ts';
export * from './digests.ts';
export * from './incoming-message.ts';
export * from './key-pair.ts';
export * from './program/command-line.ts';
export * from './program/explain-failure.ts';
export * from './program/obey-signals.ts';
export * from './program/package-version.ts';
export * from './program/reload.ts';
export * from './program/standard-error.ts';
export * from './seldom.ts';
export * from './signed-exchange.ts';
export * from './state-folder.ts';
export * from './system-failure.ts';
export * from './tls-files.ts';
