import { describe, expect, it, vi } from 'vitest';
import type { DownloadItem, StorageArea, Suggest } from '../browser/browser-api.ts';
import type { Download } from '../browser/download.ts';
import { JobStore } from '../jobs/job-store.ts';
import { download } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { NameQuestions } from './name-questions.ts';

const OWN = { filename: 'a.bin', conflictAction: 'uniquify' };
const START = { url: job().url, name: 'a.bin' };
const item = (id: number, byExtensionId?: string) => ({ id, byExtensionId, url: job().url }) as DownloadItem;

/** Somebody else's download, once it has a name. */
const other = async (id: number): Promise<Download | undefined> => download({ id, addonId: 'other' });

function setUp(area: StorageArea = memoryArea(), get = other) {
  const jobs = new JobStore(area);
  const dialog = Promise.withResolvers<void>();
  const started = Promise.withResolvers<number>();
  const listen = vi.fn<(isOn: boolean) => void>();
  const names = new NameQuestions({
    addonId: 'longhaul',
    downloads: {
      get,
      start: () => started.promise,
    },
    jobs,
    listen,
    pause: () => dialog.promise,
  });
  const isListening = () => listen.mock.lastCall?.[0];
  return { names, jobs, dialog, started, listen, isListening, suggest: vi.fn<Suggest>() };
}

describe("somebody else's download", () => {
  it('is told of as soon as its name and who has started it are known, or the user is asked', async () => {
    for (const end of ['name', 'dialog']) {
      const { names, dialog } = setUp();
      const created = names.created(download({ id: 1 }));
      if (end === 'name') names.named(1);
      else dialog.resolve();
      expect(await created).toMatchObject({ id: 1, addonId: 'other' });
    }
  });

  it('is as it began where it has ended since, and gone where its user has ended it in a dialog', async () => {
    for (const now of [undefined, download({ id: 1, state: 'complete', name: 'a.bin' })]) {
      const { names, dialog } = setUp(memoryArea(), async () => now);
      const created = names.created(download({ id: 1, name: '' }));
      dialog.resolve();
      expect(await created).toMatchObject({ id: 1, state: 'in_progress', name: now?.name ?? '' });
    }
  });

  it('is none that the browser only has in its list when it starts', async () => {
    const { names } = setUp();
    for (const state of ['complete', 'interrupted'] as const)
      expect(await names.created(download({ id: 1, state }))).toBeUndefined();
  });

  it('is asked for only as long as one of the add-on has no name, and then left to itself', async () => {
    const { names, started, isListening, suggest } = setUp();
    started.resolve(4);
    const starting = names.start(START);
    expect(isListening()).toBe(true);
    await starting;
    expect(isListening()).toBe(true);
    expect(names.ask(item(1), suggest)).toBe(false);
    expect(suggest).not.toHaveBeenCalled();
    names.give(4, 'a.bin');
    await vi.waitFor(() => expect(isListening()).toBe(false));
  });

  it('is asked for no more when the browser starts no download', async () => {
    const { names, started, isListening } = setUp();
    started.reject(new Error('refused'));
    await expect(names.start(START)).rejects.toThrow('refused');
    expect(isListening()).toBe(false);
  });

  it('is asked for no more on behalf of an earlier life of the background', () => {
    expect(setUp().listen.mock.calls).toEqual([[true], [false]]);
  });

  it('is known to be without a dialog when the browser names it at once', async () => {
    const { names } = setUp();
    void names.created(download({ id: 1 }));
    const isUnprompted = names.isUnprompted(1);
    names.named(1);
    expect(await isUnprompted).toBe(true);
  });

  it('is named in a dialog when the name comes late', async () => {
    const { names, dialog } = setUp();
    void names.created(download({ id: 1 }));
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
      const starting = names.start(START);
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
    await names.start(START);
    names.ask(item(4, 'longhaul'), suggest);
    names.give(4, '');
    await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[undefined]]));
  });

  it('that starts without waiting for a name has one as soon as it shows that another start was not its own', async () => {
    const { names, jobs, started, suggest } = setUp();
    await jobs.add(job({ name: 'a.bin' }));
    const starting = names.start(START);
    expect(names.ask(item(9, 'longhaul'), suggest)).toBe(true);
    started.resolve(4);
    await starting;
    await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[OWN]]));
  });

  it('gets the name of its job, once, when it was named before the browser asked', async () => {
    const { names, jobs, suggest } = setUp();
    await jobs.add(job({ name: 'a.bin' }));
    expect(names.ask(item(4, 'longhaul'), suggest)).toBe(true);
    await vi.waitFor(() => expect(suggest.mock.calls).toEqual([[OWN]]));
  });

  it('need not be asked for when it has its name before the browser asks', async () => {
    const { names, started, isListening } = setUp();
    started.resolve(4);
    names.give(await names.start(START), 'a.bin');
    await vi.waitFor(() => expect(isListening()).toBe(false));
  });

  it('is named before the browser is told that nobody is to be asked any more', async () => {
    const { names, started, listen, suggest } = setUp();
    started.resolve(4);
    await names.start(START);
    names.ask(item(4, 'longhaul'), suggest);
    names.give(4, 'a.bin');
    await vi.waitFor(() => expect(suggest).toHaveBeenCalled());
    expect(listen.mock.invocationCallOrder.at(-1)).toBeGreaterThan(suggest.mock.invocationCallOrder[0] ?? 0);
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
