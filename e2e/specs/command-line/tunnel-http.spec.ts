import { promiseTunnels } from '../../fixtures/promise-tunnels.ts';
import { test } from '../../fixtures/test.ts';

test.use({ worldSpec: { unnamed: true, secure: 'origin' } });

promiseTunnels('http');
