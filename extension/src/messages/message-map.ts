import type { RunningLeg } from '@longhaul/shared';
import type { MasterTest } from '../ask/test-master.ts';
import type { History } from '../history/history.ts';
import type { Lead } from '../jobs/continuation.ts';
import type { Job, JobState } from '../jobs/job.ts';
import type { RulesReply } from '../settings/rules-file.ts';
import type { HeldKey, Settings, SettingsProblem } from '../settings/settings.ts';
import type { SiteUse } from '../settings/site-rules.ts';
import type { Status } from './status.ts';

/** Every message from the add-on's pages to its background, with what is asked and what is answered. */
export interface MessageMap {
  /** The state of affairs, as seen from the tab with this address. */
  status: { readonly ask: { readonly tabUrl: string }; readonly answer: Status };
  settings: { readonly ask: null; readonly answer: Settings };
  'change-settings': { readonly ask: Partial<Settings>; readonly answer: Settings };
  /** The user knows what the add-on does and wants it. */
  consent: { readonly ask: null; readonly answer: null };
  /** What the user wants of a site and the names below it; without `use`, what the other rules say. */
  'set-site': { readonly ask: { readonly host: string; readonly use?: SiteUse }; readonly answer: null };
  /** What is wrong with the settings that are stored. */
  'settings-problem': { readonly ask: null; readonly answer: SettingsProblem | null };
  /** The rules as the text of a file. */
  'export-rules': { readonly ask: null; readonly answer: string };
  /** Takes all rules of a file over, or none. */
  'import-rules': { readonly ask: { readonly text: string }; readonly answer: RulesReply };
  /** Tries an interrupted job at once; gives the state that it is in then. */
  'go-on': { readonly ask: { readonly key: string }; readonly answer: JobState | undefined };
  /** Leads a job another way; false where there is none now. */
  lead: { readonly ask: { readonly key: Job['key']; readonly to: Lead }; readonly answer: boolean };
  /** What the legs of a running job do now; `undefined` where nobody tells. */
  legs: {
    readonly ask: { readonly key: Job['key'] };
    readonly answer: readonly RunningLeg[] | undefined;
  };
  /** Forgets what has ended. */
  'clear-ended': { readonly ask: null; readonly answer: null };
  history: { readonly ask: null; readonly answer: History };
  'erase-history': { readonly ask: null; readonly answer: null };
  /** A page's own script tells of a click with keys held. */
  clicked: { readonly ask: { readonly keys: readonly HeldKey[] }; readonly answer: null };
  'test-master': { readonly ask: { readonly master: string }; readonly answer: MasterTest };
}

export type MessageName = keyof MessageMap;

export interface Message<N extends MessageName = MessageName> {
  readonly name: N;
  readonly ask: MessageMap[N]['ask'];
}

/** One handler for each message. */
export type MessageHandlers = {
  readonly [N in MessageName]: (
    ask: MessageMap[N]['ask'],
    /** The address of the page that sent it. */
    from: string,
  ) => Promise<MessageMap[N]['answer']>;
};
