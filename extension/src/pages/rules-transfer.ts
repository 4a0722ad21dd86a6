import { sendMessage } from '../messages/send-message.ts';
import type { Rules, RulesProblem } from '../settings/rules-file.ts';
import { say } from '../texts/say.ts';
import { make } from './dom.ts';

/** Lets the browser save the rules as a file. */
export async function exportRules(): Promise<void> {
  const text = await sendMessage('export-rules', null);
  const link = make('a', '');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = 'longhaul-rules.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Takes the rules of a file, all or none, and shows those taken; gives the sentence about it. */
export async function importRules(file: Blob, show: (rules: Rules) => void): Promise<string> {
  const reply = await sendMessage('import-rules', { text: await file.text() });
  if (!reply.ok) return explainRulesProblem(reply);
  show(reply.rules);
  return say('importDone');
}

function explainRulesProblem({ problem, place }: RulesProblem): string {
  switch (problem) {
    case 'too-large':
      return say('importTooLarge');
    case 'not-json':
      return say('importNotJson');
    case 'not-rules':
      return say('importNotRules');
    case 'newer':
      return say('importNewer');
    case 'bad-entry':
      return say('importBadEntry', { place });
  }
}
