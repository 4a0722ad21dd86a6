import { sendMessage } from '../messages/send-message.ts';
import { say } from '../texts/say.ts';
import { byId, make } from './dom.ts';
import { explainMasterTest, isGoodMaster } from './explain-master-test.ts';

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Says something about a field, below it; a sentence a line. */
export function tellField(field: Field, sentences: readonly string[], isGood: boolean): void {
  const place = byId(`${field.id}-error`, HTMLElement);
  place.replaceChildren(...sentences.map((sentence) => make('p', '', sentence)));
  place.classList.toggle('good', isGood);
  field.setAttribute('aria-invalid', String(sentences.length > 0 && !isGood));
}

/** Has the page's button test the master whose address stands in the field, and says what came of it. */
export function offerMasterTest(field: HTMLInputElement): void {
  byId('test', HTMLElement).addEventListener('click', () => void testMaster(field));
  field.addEventListener('input', () => tellField(field, [], true));
}

async function testMaster(field: HTMLInputElement): Promise<void> {
  tellField(field, [say('optionsAsking')], true);
  const master = field.value;
  const test = await sendMessage('test-master', { master });
  // An answer may come late, or after that of a later question.
  if (field.value === master) tellField(field, explainMasterTest(test), isGoodMaster(test));
}
