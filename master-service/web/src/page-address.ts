/** What a visitor asks for, as typed: it stands in the page's address, so that reload, back and sharing keep it. */
export interface Question {
  readonly link: string;
  /** Empty where the visitor does not know it. */
  readonly size: string;
}

export const NO_QUESTION: Question = { link: '', size: '' };

/** The question in an address's query; empty fields where there is none. */
export function readQuestion(search: string): Question {
  const query = new URLSearchParams(search);
  return { link: query.get('url') ?? '', size: query.get('size') ?? '' };
}

/** The address of the page with a question, relative to the page; without one, of the empty page. */
export function formatQuestion({ link, size }: Question): string {
  if (link.trim() === '') return './';
  const query = new URLSearchParams({
    url: link.trim(),
    ...(size.trim() === '' ? {} : { size: size.trim() }),
  });
  return `./?${query.toString()}`;
}
