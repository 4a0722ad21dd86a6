/**
 * A name server: `node names-main.ts --host <address> --name <name>=<address>[,<address>...]...`. Tells its
 * parent `{ ready: { url } }` and ends with it.
 */
import { parseArgs } from 'node:util';
import { startNamesServer } from '../../overlay/names-server.ts';

const DNS_PORT = 53;

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    name: { type: 'string', multiple: true, default: [] },
  },
});

const zone = new Map(
  values.name.map((entry) => {
    const [name = '', addresses = ''] = entry.split('=');
    return [name, addresses.split(',')] as const;
  }),
);
await startNamesServer(values.host, DNS_PORT, (name) => zone.get(name));
process.once('disconnect', () => process.exit(0));
process.send?.({ ready: { url: `dns://${values.host}:${DNS_PORT}` } });
