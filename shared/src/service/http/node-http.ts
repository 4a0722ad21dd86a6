/**
 * Node's HTTP without what an `import` brings along: that reads every export, and to read some of them loads
 * another client of 13 MB, which nobody here uses.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
