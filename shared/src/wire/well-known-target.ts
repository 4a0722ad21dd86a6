/** What a master's signature is made with, and when. */
export interface MasterWord {
  readonly timeMs: number;
  /** The master's key that signed it. */
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** The items of a query that carry a master's word, with their forms. */
export const WORD_ITEMS = {
  time: /^[0-9]{1,15}$/,
  key: /^[A-Za-z0-9_-]{1,64}$/,
  signature: /^[A-Za-z0-9_-]{86}$/,
} as const;

type WordItems = Readonly<Record<keyof typeof WORD_ITEMS, string>>;

/** A master's word as items of a query. */
export function itemsOfWord({ timeMs, keyId, signature }: MasterWord): WordItems {
  return { time: String(timeMs), key: keyId, signature };
}

/** The master's word in items of a query that have their forms. */
export function wordOf({ time, key, signature }: WordItems): MasterWord {
  return { timeMs: Number(time), keyId: key, signature };
}

/** A request target at a well-known address: a path, and the items of its query in one order, none of them encoded. */
export class WellKnownTarget<Name extends string> {
  readonly #path: string;
  readonly #forms: readonly (readonly [name: Name, form: RegExp])[];

  /** Items in the order of `forms`. A form must not match `&`. */
  constructor(path: string, forms: Readonly<Record<Name, RegExp>>) {
    this.#path = path;
    this.#forms = Object.entries<RegExp>(forms) as [Name, RegExp][];
  }

  format(items: Readonly<Record<Name, string>>): string {
    return `${this.#path}?${this.#forms.map(([name]) => `${name}=${items[name]}`).join('&')}`;
  }

  /** Whether a raw request target is one of these, well-formed or not. */
  readonly matches = (rawTarget: string): boolean =>
    rawTarget === this.#path || rawTarget.startsWith(`${this.#path}?`);

  /**
   * Its items; `undefined` where it is another target, or one of them is missing, has another form or another
   * place.
   */
  parse(rawTarget: string): Readonly<Record<Name, string>> | undefined {
    if (!this.matches(rawTarget)) return undefined;
    const given = rawTarget.slice(this.#path.length + 1).split('&');
    if (given.length !== this.#forms.length) return undefined;
    const items: Partial<Record<Name, string>> = {};
    for (const [index, [name, form]] of this.#forms.entries()) {
      const item = given[index] ?? '';
      const value = item.slice(name.length + 1);
      if (!item.startsWith(`${name}=`) || !form.test(value)) return undefined;
      items[name] = value;
    }
    return items as Record<Name, string>;
  }
}
