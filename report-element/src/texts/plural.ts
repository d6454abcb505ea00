/** Returns a function that puts a count and its noun together, in the plural form of the language. */
export function counting(language: string): (count: number, one: string, other: string) => string {
  const rules = new Intl.PluralRules(language);
  const figures = new Intl.NumberFormat(language);
  return (count, one, other) => `${figures.format(count)} ${rules.select(count) === 'one' ? one : other}`;
}
