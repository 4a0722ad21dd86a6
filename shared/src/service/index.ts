/** What master and depots have in common as services: the second entry of this package, with Node's built-ins. */
export * from './broken-request.ts';
export * from './config-file.ts';
export * from './config-schemas.ts';
export * from './connection-limiter.ts';
export * from './depot-sources.ts';
export * from './digests.ts';
export * from './fair-room.ts';
export * from './incoming-message.ts';
export * from './key-pair.ts';
export * from './lru-map.ts';
export * from './seldom.ts';
export * from './signed-exchange.ts';
export * from './state-folder.ts';
export * from './static-page.ts';
