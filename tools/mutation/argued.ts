import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../checks/checks.ts';
import type { Mutant } from './mutants.ts';

/** Mutants of a file that may survive for one reason, since no test can or should notice them. */
export interface ArguedMutants {
  /** A part of the line on which they begin, if the same change on another line needs another reason. */
  readonly line?: string;
  /** The code that is changed, and what replaces it. A line break with its indentation is one space. */
  readonly changes: readonly (readonly [original: string, ...replacements: readonly string[]])[];
  readonly reason: string;
}

const wording =
  'The wording of a sentence for people; that the case is refused and recorded as refused is tested.';
const declared =
  'There for the compiler, which asks for the key of each list of a schema: no invariant looks at this list.';
const internal = 'The message of a mistake in the code, which no request can cause.';

const mutants = (reason: string, changes: ArguedMutants['changes']): ArguedMutants => ({ reason, changes });

const mutantsOnLine = (line: string, reason: string, changes: ArguedMutants['changes']): ArguedMutants => ({
  line,
  reason,
  changes,
});

/** An empty list that is there for a case that never occurs, filled. */
const unseenList = (line: string, reason: string): ArguedMutants =>
  mutantsOnLine(line, reason, [['[]', '["Stryker was here"]']]);

/** Survivors by file, with a reason. Remove an entry when a test notices the mutant or its code has changed. */
export const arguedMutants: Readonly<Record<string, readonly ArguedMutants[]>> = {
  'functions/mastery/engine/coverage.ts': [
    mutants(
      'How soon a dead end is seen, and which plan is tried first, depends on it; a search that comes to its end has the same answer.',
      [
        ['at(choice, minimum) - at(needs, minimum)', 'at(choice, minimum) + at(needs, minimum)'],
        ['(minimum: number): number => at(choice, minimum) - at(needs, minimum)', '() => undefined'],
        ['items <= 0', 'items < 0', 'false'],
        ['at(asked, minimum) > 0', 'at(asked, minimum) >= 0', 'true'],
        [
          'slack(minimum) < 0 || at(needs, minimum) > slots',
          'slack(minimum) < 0 && at(needs, minimum) > slots',
          'false',
        ],
        ['slack(minimum) < 0', 'false'],
        ['at(needs, minimum) > slots', 'false'],
        ['slack(b) < slack(a)', 'slack(b) <= slack(a)', 'true', 'false'],
        ['items < at(state.needs, minimum)', 'false'],
      ],
    ),
    unseenList(
      'rules.kindsTowards[minimum] ?? []',
      'There for the compiler: every minimum has its list of kinds.',
    ),
    mutants('There for the compiler: no kind counts towards an absent minimum.', [
      ['minimum === undefined', 'false'],
    ]),
    mutants('Counts more than is needed: the supply of kinds that count towards no open minimum.', [
      ['openOf(minima, usage.needs) > 0', 'true', 'openOf(minima, usage.needs) >= 0'],
    ]),
    mutants('The search may end one look later: the bound on its work is a round number.', [
      ['budget.left <= reserve', 'budget.left < reserve'],
    ]),
    mutants('Equivalent: no sum of quotients lies exactly on the margin.', [
      [
        'least - shareOf(kind, state.needs) > state.slots - 1 + MARGIN',
        'least - shareOf(kind, state.needs) >= state.slots - 1 + MARGIN',
      ],
    ]),
  ],
  'functions/mastery/engine/decision-gains.ts': [
    mutants(
      'Only which gains are left out as too low depends on it: then fewer are, and the highest stay. The bench measures the time.',
      [
        ['kept !== undefined && capacity < at(kept, 0)', 'false'],
        ['capacity < at(kept, 0)', 'capacity <= at(kept, 0)'],
        ['kept !== undefined', 'false'],
        [
          '{ const kept = new Float64Array(keep).fill(-Infinity); for (const gain of gains) insert(kept, gain); return kept; }',
          '{}',
        ],
        [
          '{ if (!(value > at(ascending, 0))) return; let i = 1; for (; i < ascending.length && at(ascending, i) < value; i += 1) ascending[i - 1] = at(ascending, i); ascending[i - 1] = value; }',
          '{}',
        ],
        [
          'value > at(ascending, 0)',
          'value >= at(ascending, 0)',
          'true',
          'false',
          'value <= at(ascending, 0)',
        ],
        ['!(value > at(ascending, 0))', 'false', 'true', 'value > at(ascending, 0)'],
        ['i += 1', 'i -= 1'],
        ['at(ascending, i) < value', 'at(ascending, i) <= value'],
        ['i - 1', 'i + 1'],
        ['i < ascending.length', 'i <= ascending.length', 'true'],
        ['binaryEntropy(success) - entropyLow', 'binaryEntropy(success) + entropyLow'],
        [
          '{ if (low === high) return 0; const entropyLow = binaryEntropy(low); const slope = (binaryEntropy(high) - entropyLow) / (high - low); const success = Math.min(high, Math.max(low, logistic(-slope * LN2))); return binaryEntropy(success) - entropyLow - (success - low) * slope; }',
          '{}',
        ],
      ],
    ),
    mutants('The general way gives the same gain; the short one for conjunctive items saves time.', [
      ['value === table[0]', 'false', 'value !== table[0]'],
      ['pattern === last', 'pattern !== last', 'false'],
      ['(value, pattern) => value === table[0] || pattern === last', '() => undefined'],
      ['value === table[0] || pattern === last', 'value === table[0] && pattern === last', 'false'],
    ]),
    mutantsOnLine(
      'const last = group.patterns',
      'The general way gives the same gain; the short one for conjunctive items saves time.',
      [['group.patterns.length - 1', 'group.patterns.length + 1']],
    ),
    mutants(
      'Works the same numbers out once more, or in another order: items with the same KCs share less.',
      [
        ['(a, b) => a - b', '() => undefined'],
        ['a - b', 'a + b'],
        ['Number.isNaN(group.all)', 'true'],
        ['!group.arePatternsKnown', 'true'],
      ],
    ),
    mutantsOnLine('arePatternsKnown: false', 'Equivalent: it is set anew before it is read.', [
      ['false', 'true'],
    ]),
    mutantsOnLine('group.arePatternsKnown = true', 'Equivalent: the same numbers are worked out again.', [
      ['true', 'false'],
    ]),
    mutantsOnLine(
      'Math.max(0, at(patterns, pattern))',
      'The error of rounding that it takes away is far below the digits that gains are compared in.',
      [['pattern < size', 'pattern >= size', 'false']],
    ),
    mutants('Equivalent: the entropy of 0 / 0 is 0, and counts 0 times.', [
      ['allUnsettled > 0', 'allUnsettled >= 0', 'true'],
      ['weight > 0', 'weight >= 0', 'true'],
    ]),
    mutants('The posterior of a single KC is the same sum over the theta nodes, to rounding.', [
      ['(subset & (subset - 1)) === 0', 'false'],
    ]),
    mutants('Equivalent: a write beyond the end of a typed array has no effect.', [
      ['kc < kcGuids.length', 'kc <= kcGuids.length'],
      ['subset < size', 'subset <= size'],
      ['pattern < size', 'pattern <= size'],
      ['g < product.length', 'g <= product.length'],
    ]),
    unseenList('core.knownTheta([]).length', 'Equivalent: there are as many nodes whatever is known.'),
    mutantsOnLine(
      'mastery[kc * nodes + g]',
      'Equivalent: the next KC overwrites it, and a write beyond the end of a typed array has no effect.',
      [['g < nodes', 'g <= nodes']],
    ),
  ],
  'functions/mastery/engine/kinds.ts': [
    mutantsOnLine(
      'kcs.toSorted',
      'Items that name the same KCs in another order would be of another kind: more to look at, with the same answers.',
      [
        ['a - b', 'a + b'],
        ['(a, b) => a - b', '() => undefined'],
      ],
    ),
    mutantsOnLine(
      'kcs.length > 1',
      'One KC that is a block by itself ties nothing together: such items would only be of more kinds, each of which fits as before.',
      [
        ['kcs.length > 1', 'kcs.length >= 1'],
        ['kcs.length > 1 || kcs.some((kc) => (kcBlocks[kc]?.size ?? 1) > 1)', 'true'],
        ['[]', '["Stryker was here"]'],
      ],
    ),
    mutants('Asks more often which components an item joins, with the same answer.', [
      [
        'tied.length * usage.largest <= usage.componentLimit',
        'tied.length * usage.largest < usage.componentLimit',
        'false',
      ],
    ]),
    unseenList('[towards = [], against = [], tied]', 'There for the compiler: every item has its lists.'),
    unseenList('const tiedBy', 'There for the compiler: every item has its KCs.'),
    mutants('Equivalent: no two kinds have the same key.', [['a.key < b.key', 'a.key <= b.key']]),
    mutants(
      'Another order for good: which plan is tried first depends on it, but not whether there is one.',
      [
        ['a.key < b.key', 'a.key >= b.key'],
        ['a.tied.length - b.tied.length', 'a.tied.length + b.tied.length'],
      ],
    ),
    unseenList('length: itemCount', 'Equivalent: the word is no minimum and no limit, so it counts nothing.'),
    mutants('Copies counts of which none changes.', [['named.length === 0', 'false']]),
    mutants('There for the compiler: quotas name items of the model, and kinds its minima.', [
      ['membership[item]?.push', 'membership[item].push'],
      ['kindsTowards[minimum]?.push', 'kindsTowards[minimum].push'],
    ]),
  ],
  'functions/mastery/engine/reachability.ts': [
    mutants('Saves working out gains of items that are not admitted when their turn comes.', [
      [
        '{ if (hasSpare) return; for (const kind of rules.kinds) if (!isUseful(kind)) for (const item of kind.items) items[item] = 0; }',
        '{}',
      ],
      ['!isUseful(kind)', 'false'],
    ]),
    mutantsOnLine(
      'if (hasSpare) return',
      'Saves working out gains of items that are not admitted when their turn comes.',
      [['hasSpare', 'true']],
    ),
    mutants('Saves a search for a plan, which has the same answer.', [
      ['whole.slots > 0', 'false'],
      ['hasSpare && fits(spare, kind)', 'false'],
      ['hasSpare || isUseful(kind)', 'true'],
    ]),
  ],
  'functions/mastery/engine/selection.ts': [
    unseenList('itemsByTag.get(guid) ?? []', 'There for the compiler: every GUID of a quota has its list.'),
    unseenList(
      'itemsByTag.set(guid, [])',
      'Equivalent: what is no item of the model counts towards nothing.',
    ),
    unseenList(
      'byIdentifier.get(name) ?? []',
      'Equivalent: what is no item of the model counts towards nothing.',
    ),
    unseenList('model.itemKcs[item] ?? []', 'There for the compiler: every item of the model has its KCs.'),
    mutants('There for the compiler: every item of the model has its KCs.', [
      ['model.itemKcs[item]?.some', 'model.itemKcs[item].some'],
    ]),
    mutants('No gain is below none: works out gains that decide nothing.', [
      ['(minimumGain ?? minimumDecisionGain) === undefined', 'false'],
      ['minimumDecisionGain !== undefined && decision', 'true && decision'],
    ]),
    mutants('More gains are worked out, and the best is the same.', [
      ['(chances[item] ?? NaN) >= enough', '(chances[item] ?? NaN) > enough', 'true'],
    ]),
    mutants('Only a weight that lies within rounding of the best could be passed over.', [
      ['(best()?.gain ?? -Infinity) - MARGIN', '(best()?.gain ?? -Infinity) + MARGIN'],
    ]),
    mutants('Equivalent: a write beyond the end of a typed array has no effect.', [
      ['item < eligible.length', 'item <= eligible.length'],
    ]),
    mutants('Saves a hash: there is nothing to put in order.', [['items.length === 1', 'false']]),
    mutants('Equivalent: no two items have the same artifact version, and so none the same hash.', [
      ['a > b', 'true', 'a >= b'],
      ['a < b', 'a <= b'],
    ]),
  ],
  'functions/mastery/engine/exposure.ts': [
    mutants('Saves a draw that has one outcome.', [['best.length < 2', 'false']]),
    mutants('Equivalent: a write beyond the end of a typed array has no effect.', [
      ['item < items', 'item <= items'],
    ]),
    mutantsOnLine('probability * DRAWS', 'One draw in 2^48 meets the probability exactly.', [
      [
        'draw(`sympson_hetter|${runSeed}|${idOf(candidate.item)}`) < probability * DRAWS',
        'draw(`sympson_hetter|${runSeed}|${idOf(candidate.item)}`) <= probability * DRAWS',
      ],
    ]),
  ],
  'functions/reports/access/claims.ts': [
    mutants('Equivalent: no claim lists null. The comparison is there for the compiler.', [
      ['classSourcedId !== null', 'true'],
      ['schoolSourcedId !== null', 'true'],
    ]),
  ],
  'functions/reports/analysis/metrics/evaluate-metric.ts': [
    mutants('Equivalent: no row has source keys. The comparison is there for the compiler.', [
      ["subject !== 'sourceKeys'", 'true'],
    ]),
  ],
  'functions/reports/analysis/orders/derive-orders.ts': [
    mutants('Equivalent: the one part of as many GUIDs as an order can name is made anew.', [
      ['caseGuids.length <= MAX_SUBJECTS', 'caseGuids.length < MAX_SUBJECTS'],
    ]),
  ],
  'functions/reports/composition/page.ts': [
    mutants(wording, [["'The index of attempts is not current at Results.'", '""']]),
  ],
  'functions/reports/composition/readiness.ts': [
    unseenList(
      'enrichments: []',
      'Equivalent: an enrichment adds a receipt to the report, and readiness does not show the report’s receipts.',
    ),
  ],
  'functions/reports/cursor/cursor.ts': [
    mutants(internal, [
      ['`${list}: a cursor of ${token.length} characters`', '``'],
      ["'a position is not well-formed text'", '""'],
    ]),
  ],
  'shared/contract/reports/invariants/attempt-report.ts': [
    mutants('Equivalent: two equal numbers can be one value.', [
      ['gate.achieved >= gate.required', 'gate.achieved > gate.required'],
    ]),
  ],
  'shared/contract/reports/invariants/lists.ts': [
    mutants(declared, [
      ["{ noKey: 'They are sentences for people.' }", '{}'],
      ["'They are sentences for people.'", '""'],
      ["'Each is an occurrence of its own.'", '""'],
      ["{ noKey: 'A member may be wrong in two ways.' }", '{}'],
      ["'A member may be wrong in two ways.'", '""'],
    ]),
  ],
  'shared/http/auth/key-set.ts': [
    mutants('A courtesy to the issuer: the key set is read as JSON whatever its media type is.', [
      ["{ accept: 'application/jwk-set+json, application/json' }", '{}'],
    ]),
  ],
  'shared/idempotency/request-identity.ts': [
    mutants(internal, [['`canonicalPath: no value for ${name}`', '``']]),
  ],
  'shared/idempotency/persistence-layer.ts': [
    mutants('Powertools carries this key along and hands it back; the layer never reads it.', [
      ['{ return this.#attempt.record.id; }', '{}'],
    ]),
    mutants(
      'A guard against a mistake in the code or in Powertools, and its message: no request can cause it.',
      [
        ['this.#record === undefined', 'false'],
        ["{ throw new Error('A record is read a second time.'); }", '{}'],
        ["'The work begins before its control record.'", '""'],
        ["'A record of this key exists.'", '""'],
        ["'A record is read a second time.'", '""'],
      ],
    ),
  ],
  'shared/tokens/sealed-token.ts': [
    mutants('Equivalent: a function that ends without a return statement returns undefined.', [
      ['{ return undefined; }', '{}'],
    ]),
    mutantsOnLine(
      'compactDecrypt',
      'A second barrier: the header check has refused every other algorithm and any compression.',
      [
        [
          "{ keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'], maxDecompressedLength: 0, }",
          '{}',
        ],
      ],
    ),
  ],
  'shared/http/auth/verify-token.ts': [
    mutantsOnLine('decodeUtf8(', 'Equivalent: neither text is JSON.', [["''", '"Stryker was here!"']]),
  ],
};

/** Code on one line. */
export const flat = (code: string): string => code.replaceAll(/\s+/g, ' ');

export function isArgued(mutant: Pick<Mutant, 'file' | 'line' | 'original' | 'replacement'>): boolean {
  const { file, line, original, replacement } = mutant;
  return (arguedMutants[file] ?? []).some(
    (argued) =>
      argued.changes.some(([from, ...to]) => from === flat(original) && to.includes(flat(replacement))) &&
      (argued.line === undefined ||
        readFileSync(join(projectRoot, file), 'utf8').split('\n')[line - 1]?.includes(argued.line) === true),
  );
}
