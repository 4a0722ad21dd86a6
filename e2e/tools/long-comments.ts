/** Fails where a comment is wider than 120 columns: the formatter, which holds code to 110, leaves comments alone. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-steps.ts';

const MOST_COLUMNS = 120;
const SOURCES = '{shared,depot-node,master-service,extension,e2e}/**/*.{ts,tsx,mjs,mts}';
const COMMENT = /^\s*(?:\*|\/\/|\/\*)/;

const files = globSync(SOURCES, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] });
const wide = files.flatMap((file) =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      line.length > MOST_COLUMNS && COMMENT.test(line) ? [`${file}:${index + 1}`] : [],
    ),
);
for (const place of wide) process.stderr.write(`${place}: a comment of more than ${MOST_COLUMNS} columns\n`);
if (wide.length > 0) process.exitCode = 1;
