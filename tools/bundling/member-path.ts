/**
 * Takes the place of `@aws-lambda-powertools/jmespath` in the bundles. The idempotency layer is configured with the names of two members
 * (`key` and `hash`), for which a whole JMESPath interpreter (24 KB) would be loaded.
 * @throws TypeError for any expression but one member's name: a new expression must fail in the first test, not evaluate to something else.
 */
export function search(expression: string, data: unknown): unknown {
  if (!/^[A-Za-z_]\w*$/.test(expression)) {
    throw new TypeError(`only a member's name is supported as a path in a bundle, not: ${expression}`);
  }
  if (typeof data !== 'object' || data === null) return null;
  return (data as Readonly<Record<string, unknown>>)[expression] ?? null;
}

/** What the idempotency layer makes one of per configuration: the additional JMESPath functions, none of which a member's name can call. @public */
export const PowertoolsFunctions = function PowertoolsFunctions(): void {
  // Constructed by its importer, without state.
};
