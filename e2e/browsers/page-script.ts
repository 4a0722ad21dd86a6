/**
 * Makes an expression of an async function body. Its value is a promise of the result as JSON text, `null` when there
 * is no result. JSON lets both browsers return the same values.
 */
export function toExpression(body: string, args: readonly unknown[]): string {
  const call = `(async (args) => {\n${body}\n})(${JSON.stringify(args)})`;
  return `${call}.then((value) => JSON.stringify(value) ?? null)`;
}

/** The result of an expression made by `toExpression`; `undefined` when the body returned nothing. */
export function fromJson(json: string | null): unknown {
  return json === null ? undefined : JSON.parse(json);
}
