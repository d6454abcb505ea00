/** A text that CloudWatch parses: a metric math expression or the rule of a composite alarm. */
export interface Tokens {
  /** Returns the next token without taking it; undefined at the end. */
  readonly peek: () => string | undefined;
  /** Takes the next token if it is one of these. */
  readonly take: (...expected: readonly string[]) => string | undefined;
  readonly next: () => string;
  /** @throws unless the next token is this one */
  readonly expect: (expected: string) => void;
  /** @throws with the text and the place */
  readonly fail: (problem: string) => never;
}

/**
 * @param pattern one token, with the flag `y`; spaces between tokens are skipped
 * @throws for a character that begins no token
 */
export function tokensOf(text: string, pattern: RegExp): Tokens {
  const found: string[] = [];
  for (let rest = text.trimStart(); rest !== ''; rest = rest.slice(found.at(-1)?.length).trimStart()) {
    const [token] = new RegExp(pattern, 'y').exec(rest) ?? [];
    if (token === undefined) throw new Error(`the evaluator does not know "${rest}" in: ${text}`);
    found.push(token);
  }
  let position = 0;
  const fail = (problem: string): never => {
    throw new Error(`${problem}, at token ${String(position + 1)} of: ${text}`);
  };
  const peek = () => found[position];
  const next = (): string => {
    const token = peek() ?? fail('the text ends too early');
    position += 1;
    return token;
  };
  const take = (...expected: readonly string[]): string | undefined =>
    expected.includes(peek() ?? '') ? next() : undefined;
  return {
    ...{ peek, next, take, fail },
    expect: (expected) => {
      if (take(expected) === undefined) fail(`expected ${expected}`);
    },
  };
}
