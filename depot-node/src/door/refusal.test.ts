import { createServer } from 'node:http';
import { type ErrorCode, LonghaulError } from '@longhaul/shared';
import { expect, onTestFinished, test } from 'vitest';
import { sendRefusal } from './refusal.ts';

/** When a client that is refused with this code is told to come back, in seconds; `null` where it is told nothing. */
async function retryAfterOf(code: ErrorCode, retryAfterSeconds?: number): Promise<string | null> {
  const error = new LonghaulError(code, { retryAfterSeconds });
  const server = createServer((request, response) => sendRefusal(request, response, error, { ownId: 'd1' }));
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } });
  expect(answer.status).toBe(error.status);
  return answer.headers.get('Retry-After');
}

test('who is refused is told to come back when that may help, not before it can', async () => {
  expect(await retryAfterOf('depot-full'), 'passes by itself').toBe('5');
  expect(await retryAfterOf('origin-busy', 120), 'as the origin asks').toBe('120');
  expect(await retryAfterOf('origin-busy', 86_400), 'but not for a day').toBe('3600');
  expect(await retryAfterOf('ticket-checks-spent'), 'counted by the minute').toBe('60');
  expect(await retryAfterOf('ticket-malformed'), 'waiting does not help').toBeNull();
});
