import { sendMessage } from '../messages/send-message.ts';
import type { RulesProblem } from '../settings/rules-file.ts';
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

/** Takes the rules of a file, all or none; gives the sentence about it. */
export async function importRules(file: Blob): Promise<string> {
  const reply = await sendMessage('import-rules', { text: await file.text() });
  return reply.ok ? say('importDone') : explainRulesProblem(reply);
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
