/** `npm run build`: the add-on for both browsers, and the master's pages. */
import { runInTurn } from './run-steps.ts';

await runInTurn([['extension/build.ts'], ['node_modules/vite/bin/vite.js', 'build', 'master-service/web']]);
