import { join } from 'node:path';
import { build } from 'vite';

const web = join(import.meta.dirname, '..', '..', 'master-service', 'web');

/** Builds the master's pages, which a master serves from `master-service/dist/web`. */
export async function buildPages(): Promise<void> {
  await build({ root: web, configFile: join(web, 'vite.config.ts'), logLevel: 'warn' });
}
