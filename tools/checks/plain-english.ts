/** Phrases that make a comment read as if translated, each with what to write instead. docs/glossary.md has the terms of the product. */
const phrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [
    /\b(?:no|every|any|some)body\b|\bwho(?:m|so)?ever\b/gi,
    'name the role: caller, operator, learner, owner, tenant',
  ],
  [/\bwhat(?:so)?ever\b/gi, 'write "any …", "all …" or "everything that …"'],
  [/\bbeside\b/gi, 'write "next to" for a place, else "and" or "in addition to"'],
  [
    /\bst(?:ands?|ood)\s+(?:in|on|behind|for|to|beside)\b/gi,
    'write "is in", "depends on", "follows", "means" or "represents"',
  ],
  [
    /(?<!\b(?:let|leaves?|left|stands?)\s+)\balone\b/gi,
    'write "only" before what it restricts: "only the service", not "the service alone"',
  ],
  [/(?<=^\*?\s*|[.:;]\s+)(?:What\s+of|Of)\s/g, 'begin with the thing: "The value of a …", "If two …"'],
  [
    /(?<=^\*?\s*|[.:;]\s+)So\s+(?:long|many|much|often)\b/g,
    'write "The most …", "How long …" or "This many …"',
  ],
  [
    /\b(?:all|just)\s+the\s+same\b|\bfor\s+ever\b|\balso\s+when\b/gi,
    'write "anyway", "permanently" or "even if"',
  ],
  [
    /(?<!\b(?:to|and|or|not|may|must|can|cannot|could|should|will|would|we|you)\s+)\b(?:says?|said|tells?|told)\b/gi,
    'a thing does not speak: a record contains, a status means, a check reports, a document states',
  ],
];

interface Comment {
  readonly value: string;
  readonly loc: { readonly start: { readonly line: number; readonly column: number } };
}

interface Finding {
  readonly line: number;
  readonly message: string;
}

/**
 * Finds these phrases in a comment, also across its lines.
 * @param value without the comment's delimiters
 * @returns in the order of the phrases; `line` is 0 for the first line of the comment
 */
export function findPhrases(value: string): readonly Finding[] {
  const text = value.replaceAll(/(?<=\n)\s*\*/g, (start) => ' '.repeat(start.length));
  return phrases.flatMap(([phrase, instead]) =>
    [...text.matchAll(phrase)].map((match) => ({
      line: text.slice(0, match.index).split('\n').length - 1,
      message: `"${match[0].trim().replaceAll(/\s+/g, ' ')}": ${instead}`,
    })),
  );
}

interface Context {
  readonly sourceCode: { readonly getAllComments: () => readonly Comment[] };
  readonly report: (finding: {
    readonly loc: { readonly line: number; readonly column: number };
    readonly message: string;
  }) => void;
}

/** The plugin of oxlint.config.ts. */
export default {
  meta: { name: 'plain-english' },
  rules: {
    comments: {
      create: ({ sourceCode, report }: Context): Readonly<Record<'Program', () => void>> => ({
        Program: () => {
          for (const { value, loc } of sourceCode.getAllComments())
            for (const { line, message } of findPhrases(value))
              report({ loc: { line: loc.start.line + line, column: 0 }, message });
        },
      }),
    },
  },
};
