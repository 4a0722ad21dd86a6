import { describe, expect, it, vi } from 'vitest';
import type { DownloadItem, StorageArea, Suggest } from '../browser/browser-api.ts';
import { JobStore } from '../jobs/job-store.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { NameQuestions } from './name-questions.ts';

const OWN = { filename: 'a.bin', conflictAction: 'uniquify' };
const item = (id: number, byExtensionId?: string) => ({ id, byExtensionId, url: job().url }) as DownloadItem;

function setUp(area: StorageArea = memoryArea()) {
  const jobs = new JobStore(area);
  const dialog = Promise.withResolvers<void>();
  const started = Promise.withResolvers<number>();
  const names = new NameQuestions({
    addonId: 'longhaul',
    downloads: { start: () => started.promise },
    jobs,
    pause: () => dialog.promise,
  });
  return { names, jobs, dialog, started, suggest: vi.fn<Suggest>() };
}

describe("somebody else's download", () => {
  it("is named at once, by the browser's own choice", () => {
    const { names, suggest } = setUp();
    expect(names.ask(item(1), suggest)).toBe(false);
    expect(suggest.mock.calls).toEqual([[]]);
  });

  it('is known to be without a dialog when the browser names it at once', async () => {
    const { names, suggest } = setUp();
    names.ask(item(1), suggest);
    const isUnprompted = names.isUnprompted(1);
    names.named(1);
    expect(await isUnprompted).toBe(true);
  });

  it('is named in a dialog when the name comes late', async () => {
    const { names, dialog, suggest } = setUp();
    names.ask(item(1), suggest);
    dialog.resolve();
    expect(await names.isUnprompted(1)).toBe(false);
    names.named(1);
    expect(await names.isUnprompted(1)).toBe(false);
  });

  it('is not known to be without a dialog when nobody saw it being named', async () => {
    const { names } = setUp();
    names.named(1);
    expect(await names.isUnprompted(1)).toBe(false);
  });
});

describe("the add-on's own download", () => {
  it('waits for its name, however early the browser asks', async () => {
    for (const asksFirst of [true, false]) {
      const { names, started, suggest } = setUp();
      const starting = names.start({ url: job().url });
      if (asksFirst) expect(names.ask(item(4, 'longhaul'), suggest)).toBe(true);
      started.resolve(4);
      expect(await starting).toBe(4);
      if (!asksFirst) expect(names.ask(item(4, 'longhaul'), suggest)).toBe(true);
      await names.asked(4);
      expect(suggest).not.toHaveBeenCalled();
      names.give(4, 'a.bin');
      await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[OWN]]));
    }
  });

  it("gets the browser's own choice when there is no name to give", async () => {
    const { names, started, suggest } = setUp();
    started.resolve(4);
    await names.start({ url: job().url });
    names.ask(item(4, 'longhaul'), suggest);
    names.give(4, '');
    await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[undefined]]));
  });

  it('gets the name of its job, once, when the background has slept since it was started', async () => {
    const { names, jobs, suggest } = setUp();
    await jobs.add(job({ name: 'a.bin' }));
    expect(names.ask(item(4, 'longhaul'), suggest)).toBe(true);
    await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[OWN]]));
  });

  it('is named even when the job is unknown or the storage fails', async () => {
    const broken = { get: () => Promise.reject(new Error('gone')) } as unknown as StorageArea;
    for (const area of [memoryArea(), broken]) {
      const { names, suggest } = setUp(area);
      expect(names.ask(item(4, 'longhaul'), suggest)).toBe(true);
      await vi.waitFor(() => expect(suggest).toHaveBeenCalledTimes(1));
    }
  });
});
