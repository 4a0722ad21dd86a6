import { sendMessage } from '../messages/send-message.ts';
import type { Settings } from '../settings/settings.ts';
import { readSettingsFile, settingsFile } from '../settings/settings-file.ts';
import { say } from '../texts/say.ts';
import { make } from './dom.ts';

/** Lets the browser save all settings as a file. */
export async function exportSettings(): Promise<void> {
  const text = settingsFile(await sendMessage('settings', null));
  const link = make('a', '');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = 'longhaul-settings.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Takes the settings of a file, all or none; gives the sentence about it. */
export async function importSettings(
  file: Blob,
): Promise<{ readonly settings: Settings | undefined; readonly sentence: string }> {
  const reading = readSettingsFile(await file.text());
  if (reading.result === 'no-file') return { settings: undefined, sentence: say('importNoFile') };
  if (reading.result === 'bad-part')
    return { settings: undefined, sentence: say('importBadPart', { part: reading.part }) };
  const settings = await sendMessage('change-settings', reading.settings);
  return { settings, sentence: say('importDone') };
}
