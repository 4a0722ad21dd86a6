import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserKind } from '../../browsers/browser.ts';
import { changeSettings, jobState, linkRuleCount } from '../../fixtures/ask-addon.ts';
import { openLinkPage } from '../../fixtures/download-checks.ts';
import { FROM_MENU, leadDownload } from '../../fixtures/popup-and-menu.ts';
import { expect } from '../../fixtures/test.ts';
import { IMAGINARY_WAN } from '../../overlay/imaginary-wan.ts';
import type { LinkSpec, MasterChange } from '../../overlay/overlay.ts';
import { type Scene, STAGE_IDS, type StageId } from './stage.ts';

/** What becomes of a download: depots carry it, the browser does it alone, or something breaks meanwhile. */
export type CaseGroup = 'taken' | 'left' | 'broken';

export interface BrowserCase {
  readonly id: string;
  readonly title: string;
  readonly group: CaseGroup;
  /** Default `plain`. */
  readonly stage?: StageId;
  /** Where only this browser can be driven so. */
  readonly only?: BrowserKind;
  /** The file's name, without the stem; default `.bin`. */
  readonly ending?: string;
  /** Larger than others, so that there is time for what happens. */
  readonly isLarge?: boolean;
  /** Chromium asks whether to keep it, and keeps it under another name until somebody answers. */
  readonly isAskedAbout?: boolean;
  /** The address that is clicked on, of a file of this name; default `/files/<name>`, or a slow one of what breaks. */
  readonly path?: (name: string) => string;
  /** Before the clock begins. */
  readonly prepare?: (scene: Scene) => Promise<void>;
  /** Shows what is clicked on; default a page with one link. */
  readonly show?: (scene: Scene) => Promise<void>;
  /** Begins the download; default a click. */
  readonly begin?: (scene: Scene) => Promise<void>;
  /**
   * Whether it is begun from a menu, which takes longer to be driven than a click: then the clock begins with
   * the origin's first byte.
   */
  readonly isFromMenu?: boolean;
  /** What happens while it runs. */
  readonly meanwhile?: (scene: Scene) => Promise<void>;
  /** Undoes what was done. */
  readonly mend?: (scene: Scene) => Promise<void>;
}

/** So near that no chain wins. */
const NEAR_ORIGIN: readonly LinkSpec[] = IMAGINARY_WAN.map((link) =>
  link.between.join() === 'client,origin' ? { ...link, rttMs: 10, lossRate: 0 } : link,
);
const KINDS = ['.iso', '.tar.gz', '.zip', '.exe', '.dmg', '.pdf', '.deb', '.rpm'] as const;
const ASKED_ABOUT: readonly string[] = ['.deb', '.rpm'];
/** So much is on disk when something breaks. */
const BEGUN_BYTES = 1_500_000;
const RESTART_BYTES = 5_000_000;
/** How long the network is away. */
const AWAY_MS = 1_500;

const attached = (name: string) => `/attachment/${name}`;
const personal = (header: string) => (name: string) => `/personal/${encodeURIComponent(header)}/${name}`;

/** The settings of the add-on while a case runs. */
function withSettings(
  patch: Parameters<typeof changeSettings>[1],
  usual: Parameters<typeof changeSettings>[1],
): Pick<BrowserCase, 'prepare' | 'mend'> {
  const change = (settings: typeof patch) => (scene: Scene) =>
    scene.isHelped ? changeSettings(scene.user, settings) : Promise.resolve();
  return { prepare: change(patch), mend: change(usual) };
}

/** Waits until depots carry it. */
const running = ({ user, name }: Scene) =>
  expect.poll(() => jobState(user, name), { intervals: [50], timeout: 20_000 }).toBe('running');

/**
 * Something that happens to depots, masters or the add-on, once the download comes through depots: without
 * the add-on it touches nobody.
 */
function breaking(
  id: string,
  title: string,
  meanwhile: (scene: Scene) => Promise<void>,
  more: Partial<BrowserCase> = {},
): BrowserCase {
  return {
    id,
    title,
    group: 'broken',
    ...more,
    meanwhile: async (scene) => {
      if (!scene.isHelped) return;
      await running(scene);
      await scene.onDisk(BEGUN_BYTES);
      await meanwhile(scene);
    },
  };
}

/** Starts a depot again, whether or not it has come to its end. */
const restart =
  (depot: string) =>
  async ({ world, isHelped }: Scene) => {
    if (!isHelped) return;
    await world.overlay.depot(depot).kill();
    await world.overlay.restartDepot(depot);
  };

const restartMaster =
  (change: MasterChange) =>
  async ({ world, isHelped }: Scene) => {
    if (!isHelped) return;
    await world.overlay.master.kill();
    await world.overlay.restartMaster(change);
  };

const TAKEN: readonly BrowserCase[] = [
  { id: 'link', title: 'a link', group: 'taken' },
  {
    id: 'attachment',
    title: 'an attachment, with a query',
    group: 'taken',
    path: (name) => `${attached(name)}?x=1&y=a%2Fb`,
  },
  {
    id: 'attribute',
    title: 'a name in a `download` attribute',
    group: 'taken',
    show: ({ user, world, target, name }) => openLinkPage(user, world, target, { download: `my-${name}` }),
  },
  {
    id: 'script',
    title: 'a name in another script',
    group: 'taken',
    path: (name) => `/named/${encodeURIComponent(`资料 ${name}`)}/${name}`,
  },
  ...KINDS.map(
    (ending): BrowserCase => ({
      id: ending.slice(1),
      title: `a ${ending} file`,
      group: 'taken',
      ending,
      path: (name) => `/typed/${name}`,
      isAskedAbout: ASKED_ABOUT.includes(ending),
    }),
  ),
  {
    id: 'unwasted',
    title: 'no wasted byte',
    group: 'taken',
    ending: '.iso',
    prepare: async ({ user, isHelped }) => {
      if (!isHelped) return;
      await changeSettings(user, { noWastedByte: true });
      // As for whoever has chosen it long before.
      if (user.kind === 'chromium')
        await expect.poll(() => linkRuleCount(user), { timeout: 20_000 }).toBeGreaterThan(0);
    },
    mend: ({ user, isHelped }) =>
      isHelped ? changeSettings(user, { noWastedByte: false }) : Promise.resolve(),
  },
  { id: 'two-uses', title: 'a link for two requests', group: 'taken', path: (name) => `/limited/2/${name}` },
  {
    id: 'menu',
    title: '"Download through Longhaul"',
    group: 'taken',
    begin: ({ user, isHelped }) =>
      isHelped ? user.chooseFromMenu('#link', FROM_MENU.through) : user.click('#link'),
  },
  { id: 'https', title: 'an https page and origin', group: 'taken', stage: 'secure' },
  {
    id: 'asked-where',
    title: 'asked where to save: the usual folder',
    group: 'taken',
    stage: 'asking',
    only: 'firefox',
    prepare: ({ user }) => user.answerDialogs({ folder: user.downloadsDir }),
  },
];

const LEFT: readonly BrowserCase[] = [
  {
    id: 'post',
    title: 'the answer to a form',
    group: 'left',
    isLarge: true,
    path: (name) => `/form/${name}`,
    show: ({ user, url }) => user.goto(url),
  },
  {
    id: 'blob',
    title: 'a file that a page has made',
    group: 'left',
    show: async ({ user, world, url, name }) => {
      await openLinkPage(user, world, '/x');
      await user.evaluate(
        `const link = document.querySelector('#link');
        link.href = URL.createObjectURL(await (await fetch(args[0])).blob());
        link.download = args[1];`,
        url,
        name,
      );
    },
  },
  {
    id: 'vary',
    title: 'an answer that varies with the cookie',
    group: 'left',
    path: personal('Vary=Accept-Encoding, Cookie'),
  },
  {
    id: 'private',
    title: 'a private answer',
    group: 'left',
    path: personal('Cache-Control=private, max-age=60'),
  },
  { id: 'etag', title: 'an answer with a validator of one’s own', group: 'left', path: personal('etag') },
  { id: 'members', title: 'a file behind a login', group: 'left', path: (name) => `/members/${name}` },
  {
    id: 'small',
    title: 'a file smaller than wanted',
    group: 'left',
    ...withSettings({ smallestBytes: 10_000_000 }, { smallestBytes: 2_000_000 }),
  },
  {
    id: 'private-site',
    title: 'a site that depots may not reach',
    group: 'left',
    show: ({ user, world, target }) => openLinkPage(user, world, world.privateUrl + target),
  },
  {
    id: 'site-off',
    title: 'a site that is never wanted',
    group: 'left',
    ...withSettings({ sitesOff: ['origin.test'] }, { sitesOff: [] }),
  },
  {
    id: 'menu-directly',
    title: '"Download directly"',
    group: 'left',
    isFromMenu: true,
    begin: ({ user, isHelped }) =>
      isHelped ? user.chooseFromMenu('#link', FROM_MENU.directly) : user.click('#link'),
  },
  {
    id: 'near',
    title: 'an origin so near that direct is best',
    group: 'left',
    prepare: restartMaster({ links: NEAR_ORIGIN }),
    mend: restartMaster({ links: IMAGINARY_WAN }),
  },
  {
    id: 'master-down',
    title: 'no master',
    group: 'left',
    prepare: async ({ world, isHelped }) => {
      if (isHelped) await world.overlay.master.kill();
    },
    mend: restartMaster({}),
  },
  {
    id: 'save-as',
    title: '"Save link as", to another folder',
    group: 'left',
    isFromMenu: true,
    stage: 'asking',
    only: 'firefox',
    prepare: ({ user, otherFolder }) => user.answerDialogs({ folder: otherFolder }),
    begin: ({ user }) => user.saveLinkAs('#link'),
  },
];

const BROKEN: readonly BrowserCase[] = [
  {
    id: 'origin-cut',
    title: 'the origin’s connection with the depots is cut',
    group: 'broken',
    prepare: async ({ world, target, isHelped }) => {
      if (isHelped) world.origin.cutForDepots(target, BEGUN_BYTES);
    },
  },
  breaking('exit-killed', 'the exit depot is killed', ({ world }) => world.overlay.depot('d3').kill(), {
    mend: restart('d3'),
  }),
  breaking('entry-back', 'the entry depot is killed, and comes back', async ({ world }) => {
    await world.overlay.depot('d1').kill();
    await world.overlay.restartDepot('d1');
  }),
  breaking(
    'entry-killed',
    'the entry depot is killed, and stays away',
    ({ world }) => world.overlay.depot('d1').kill(),
    { mend: restart('d1') },
  ),
  breaking(
    'entry-drains',
    'the entry depot is asked to end',
    async ({ world }) => void process.kill(world.overlay.depot('d1').pid, 'SIGTERM'),
    { mend: restart('d1') },
  ),
  breaking('master-dies', 'the master is killed', ({ world }) => world.overlay.master.kill(), {
    mend: restartMaster({}),
  }),
  breaking('background-ends', 'the add-on’s background is ended', async ({ user }) => {
    await user.goto('about:blank');
    await user.unloadBackground();
  }),
  breaking(
    'led-direct',
    '"Use direct" in the popup',
    ({ user, name }) => leadDownload(user, 'Use direct', name),
    { isLarge: true },
  ),
  {
    id: 'network-away',
    title: 'the network is away for a while',
    group: 'broken',
    meanwhile: async (scene) => {
      const { world, isHelped, target } = scene;
      await scene.onDisk(BEGUN_BYTES);
      if (isHelped) await running(scene);
      world.origin.setAway(target, true);
      if (isHelped) await world.overlay.depot('d1').kill();
      await delay(AWAY_MS);
      world.origin.setAway(target, false);
      if (isHelped) await world.overlay.restartDepot('d1');
    },
  },
  {
    id: 'restarted',
    title: 'the browser is ended and started again',
    group: 'broken',
    isLarge: true,
    path: (name) => `/files/${name}`,
    meanwhile: async (scene) => {
      if (scene.isHelped) await running(scene);
      await scene.onDisk(RESTART_BYTES);
      await scene.user.restart();
    },
  },
];

/** All of them, in the order of their groups. */
export const BROWSER_CASES: readonly BrowserCase[] = [...TAKEN, ...LEFT, ...BROKEN];

/** Those that this browser can be driven through, on this stage. */
export function casesOf(
  cases: readonly BrowserCase[],
  browser: BrowserKind,
  stage: StageId,
): readonly BrowserCase[] {
  return cases.filter(
    (one) => (one.stage ?? STAGE_IDS[0]) === stage && (one.only === undefined || one.only === browser),
  );
}
