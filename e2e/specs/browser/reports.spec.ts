import { changeSettings, whyLeft } from '../../fixtures/ask-addon.ts';
import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { openOptions } from '../../fixtures/options-page.ts';
import { LARGE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

test('whoever has not agreed tells the master nothing of how downloads went', async ({ user, world }) => {
  await clickLink(user, world, '/files/untold.bin');
  await expectFile(user, 'untold.bin');
  await openOptions(user);
  await user.click('#tells-master');
  // Ten seconds: on a busy machine a shorter one is nearly there before the depot has answered.
  await clickLink(user, world, '/slow/none/large-told.bin');
  await expectFile(user, 'large-told.bin');
  expect(await whyLeft(user), 'it came through depots').toBeUndefined();
  await expect.poll(() => told(world)).toHaveLength(1);
});

test('the master learns what chained and direct downloads really gave, beside its predictions', async ({
  user,
  world,
}) => {
  const [chained] = await told(world);
  expect(chained).toMatchObject({ chain: ['d1', 'd3'], client: { bytes: LARGE_BYTES } });
  await say(world, { jobId: chained?.jobId, verdict: 'prefer-direct' });
  await clickLink(user, world, '/kept/large-told-direct.bin');
  await expectFile(user, 'large-told-direct.bin');
  await expect.poll(() => whyLeft(user)).toBe('direct-is-best');
  await expect.poll(async () => (await told(world)).map(({ chain }) => chain)).toContainEqual([]);
  for (const { client } of await told(world)) {
    expect(client.bytes).toBe(LARGE_BYTES);
    expect(client.seconds).toBeGreaterThan(0.1);
    expect(client.predictedSeconds).toBeGreaterThan(0);
  }
  // Other tests have the same network, and want chains.
  await say(world, { jobId: chained?.jobId, verdict: 'worked' });
  await changeSettings(user, { tellsMaster: false });
});

interface Told {
  readonly jobId: string;
  readonly chain: readonly string[];
  readonly client: { readonly bytes: number; readonly seconds: number; readonly predictedSeconds: number };
}

/** What clients have told of their downloads. */
async function told(world: World): Promise<readonly Told[]> {
  const answer = await fetch(`${masterHere(world)}/v1/outcomes`);
  const { jobs } = (await answer.json()) as { readonly jobs: readonly (Told & { client?: object })[] };
  return jobs.filter(({ client }) => client !== undefined);
}

async function say(world: World, feedback: object): Promise<void> {
  const answer = await fetch(`${masterHere(world)}/v1/feedback`, {
    method: 'POST',
    body: JSON.stringify(feedback),
  });
  expect(answer.status).toBe(200);
}

/** Node does not know the names that browsers are told. */
function masterHere({ overlay, listenHost }: World): string {
  return `http://${listenHost}:${new URL(overlay.master.url).port}`;
}
