import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../checks/checks.ts';
import type { Mutant } from './mutants.ts';

/** Mutants of one file that may survive for one reason, since no test could or should tell them from the code. */
export interface ArguedMutants {
  readonly file: string;
  /** A part of the line on which they begin, where the same change of another line is another matter. */
  readonly line?: string;
  /** The code that each of them changes and what replaces it, each line break and indentation being one space. */
  readonly changes: readonly (readonly [original: string, replacement: string])[];
  /** Why they may survive. */
  readonly reason: string;
}

const wording =
  'The wording of a sentence for people; that the case is refused and recorded as refused is tested.';
const declared =
  'There for the compiler, which asks for the key of each list of a schema: no invariant looks at this list.';
const internal = 'The message of a mistake in the code, which no request can cause.';

/** A list that is there for a case that does not come, filled. */
const unseenList = (file: string, line: string, reason: string): ArguedMutants => ({
  file,
  line,
  changes: [['[]', '["Stryker was here"]']],
  reason,
});

/** Survivors with a reason. One that a test catches, or whose code has changed, has no place here. */
export const arguedMutants: readonly ArguedMutants[] = [
  {
    file: 'functions/mastery/engine/coverage.ts',
    changes: [
      ['at(choice, minimum) - at(needs, minimum)', 'at(choice, minimum) + at(needs, minimum)'],
      ['(minimum: number): number => at(choice, minimum) - at(needs, minimum)', '() => undefined'],
      ['items <= 0', 'items < 0'],
      ['items <= 0', 'false'],
      ['at(asked, minimum) > 0', 'at(asked, minimum) >= 0'],
      ['at(asked, minimum) > 0', 'true'],
      [
        'slack(minimum) < 0 || at(needs, minimum) > slots',
        'slack(minimum) < 0 && at(needs, minimum) > slots',
      ],
      ['slack(minimum) < 0 || at(needs, minimum) > slots', 'false'],
      ['slack(minimum) < 0', 'false'],
      ['at(needs, minimum) > slots', 'false'],
      ['slack(b) < slack(a)', 'slack(b) <= slack(a)'],
      ['slack(b) < slack(a)', 'true'],
      ['slack(b) < slack(a)', 'false'],
      ['items < at(state.needs, minimum)', 'false'],
    ],
    reason:
      'How soon a dead end is seen, and which plan is tried first, depends on it; a search that comes to its end has the same answer.',
  },
  unseenList(
    'functions/mastery/engine/coverage.ts',
    'rules.kindsTowards[minimum] ?? []',
    'There for the compiler: every minimum has its list of kinds.',
  ),
  {
    file: 'functions/mastery/engine/coverage.ts',
    changes: [['minimum === undefined', 'false']],
    reason: 'There for the compiler: no kind counts towards a minimum that is none.',
  },
  {
    file: 'functions/mastery/engine/coverage.ts',
    changes: [
      ['openOf(minima, usage.needs) > 0', 'true'],
      ['openOf(minima, usage.needs) > 0', 'openOf(minima, usage.needs) >= 0'],
    ],
    reason: 'Counts more than anybody asks for: the supply of kinds that count towards no open minimum.',
  },
  {
    file: 'functions/mastery/engine/coverage.ts',
    changes: [['work.left <= reserve', 'work.left < reserve']],
    reason: 'The search may end one look later: the bound on its work is a round number.',
  },
  {
    file: 'functions/mastery/engine/coverage.ts',
    changes: [
      [
        'least - shareOf(kind, state.needs) > state.slots - 1 + MARGIN',
        'least - shareOf(kind, state.needs) >= state.slots - 1 + MARGIN',
      ],
    ],
    reason: 'Equivalent: no sum of quotients lies exactly on the margin.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [
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
      ['value > at(ascending, 0)', 'value >= at(ascending, 0)'],
      ['value > at(ascending, 0)', 'true'],
      ['!(value > at(ascending, 0))', 'false'],
      ['value > at(ascending, 0)', 'false'],
      ['!(value > at(ascending, 0))', 'true'],
      ['value > at(ascending, 0)', 'value <= at(ascending, 0)'],
      ['!(value > at(ascending, 0))', 'value > at(ascending, 0)'],
      ['i += 1', 'i -= 1'],
      ['at(ascending, i) < value', 'at(ascending, i) <= value'],
      ['i - 1', 'i + 1'],
      ['i < ascending.length', 'i <= ascending.length'],
      ['i < ascending.length', 'true'],
      ['binaryEntropy(success) - entropyLow', 'binaryEntropy(success) + entropyLow'],
      [
        '{ if (low === high) return 0; const entropyLow = binaryEntropy(low); const slope = (binaryEntropy(high) - entropyLow) / (high - low); const success = Math.min(high, Math.max(low, logistic(-slope * LN2))); return binaryEntropy(success) - entropyLow - (success - low) * slope; }',
        '{}',
      ],
    ],
    reason:
      'Only which gains are left out as too low depends on it: then fewer are, and the highest stay. The bench measures the time.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [
      ['value === table[0]', 'false'],
      ['pattern === last', 'pattern !== last'],
      ['pattern === last', 'false'],
      ['value === table[0]', 'value !== table[0]'],
      ['(value, pattern) => value === table[0] || pattern === last', '() => undefined'],
      ['value === table[0] || pattern === last', 'value === table[0] && pattern === last'],
      ['value === table[0] || pattern === last', 'false'],
    ],
    reason: 'The general way gives the same gain; the short one for conjunctive items saves time.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    line: 'const last = group.patterns',
    changes: [['group.patterns.length - 1', 'group.patterns.length + 1']],
    reason: 'The general way gives the same gain; the short one for conjunctive items saves time.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [
      ['(a, b) => a - b', '() => undefined'],
      ['a - b', 'a + b'],
      ['Number.isNaN(group.all)', 'true'],
      ['!group.arePatternsKnown', 'true'],
    ],
    reason: 'Works the same numbers out once more, or in another order: items with the same KCs share less.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    line: 'arePatternsKnown: false',
    changes: [['false', 'true']],
    reason: 'Equivalent: it is set anew before it is read.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    line: 'group.arePatternsKnown = true',
    changes: [['true', 'false']],
    reason: 'Equivalent: the same numbers are worked out again.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    line: 'Math.max(0, at(patterns, pattern))',
    changes: [
      ['pattern < size', 'pattern >= size'],
      ['pattern < size', 'false'],
    ],
    reason: 'The error of rounding that it takes away is far below the digits that gains are compared in.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [
      ['allUnsettled > 0', 'allUnsettled >= 0'],
      ['allUnsettled > 0', 'true'],
      ['weight > 0', 'weight >= 0'],
      ['weight > 0', 'true'],
    ],
    reason: 'Equivalent: the entropy of 0 / 0 is 0, and counts 0 times.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [['(subset & (subset - 1)) === 0', 'false']],
    reason: 'The posterior of a single KC is the same sum over the theta nodes, to rounding.',
  },
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    changes: [
      ['kc < kcGuids.length', 'kc <= kcGuids.length'],
      ['subset < size', 'subset <= size'],
      ['pattern < size', 'pattern <= size'],
      ['g < product.length', 'g <= product.length'],
    ],
    reason: 'Equivalent: a write beyond the end of a typed array has no effect.',
  },
  unseenList(
    'functions/mastery/engine/decision-gains.ts',
    'core.knownTheta([]).length',
    'Equivalent: there are as many nodes whatever is known.',
  ),
  {
    file: 'functions/mastery/engine/decision-gains.ts',
    line: 'mastery[kc * nodes + g]',
    changes: [['g < nodes', 'g <= nodes']],
    reason:
      'Equivalent: the next KC overwrites it, and a write beyond the end of a typed array has no effect.',
  },
  {
    file: 'functions/mastery/engine/kinds.ts',
    line: 'kcs.toSorted',
    changes: [
      ['a - b', 'a + b'],
      ['(a, b) => a - b', '() => undefined'],
    ],
    reason:
      'Items that name the same KCs in another order would be of another kind: more to look at, with the same answers.',
  },
  {
    file: 'functions/mastery/engine/kinds.ts',
    line: 'kcs.length < 2',
    changes: [
      ['kcs.length < 2', 'false'],
      ['[]', '["Stryker was here"]'],
    ],
    reason:
      'One KC ties nothing together: such items would only be of more kinds, each of which fits as before.',
  },
  {
    file: 'functions/mastery/engine/kinds.ts',
    changes: [
      [
        'tied.length * usage.largest <= usage.componentLimit',
        'tied.length * usage.largest < usage.componentLimit',
      ],
      ['tied.length * usage.largest <= usage.componentLimit', 'false'],
    ],
    reason: 'Asks more often which components an item joins, with the same answer.',
  },
  unseenList(
    'functions/mastery/engine/kinds.ts',
    '[towards = [], against = [], tied]',
    'There for the compiler: every item has its lists.',
  ),
  unseenList(
    'functions/mastery/engine/kinds.ts',
    'const tiedBy',
    'There for the compiler: every item has its KCs.',
  ),
  {
    file: 'functions/mastery/engine/kinds.ts',
    changes: [['a.key < b.key', 'a.key <= b.key']],
    reason: 'Equivalent: no two kinds have the same key.',
  },
  {
    file: 'functions/mastery/engine/kinds.ts',
    changes: [
      ['a.key < b.key', 'a.key >= b.key'],
      ['a.tied.length - b.tied.length', 'a.tied.length + b.tied.length'],
    ],
    reason: 'Another order for good: which plan is tried first depends on it, but not whether there is one.',
  },
  unseenList(
    'functions/mastery/engine/kinds.ts',
    'length: itemCount',
    'Equivalent: the word is no minimum and no limit, so it counts nothing.',
  ),
  {
    file: 'functions/mastery/engine/kinds.ts',
    changes: [['named.length === 0', 'false']],
    reason: 'Copies counts of which none changes.',
  },
  {
    file: 'functions/mastery/engine/kinds.ts',
    changes: [
      ['membership[item]?.push', 'membership[item].push'],
      ['kindsTowards[minimum]?.push', 'kindsTowards[minimum].push'],
    ],
    reason: 'There for the compiler: quotas name items of the model, and kinds its minima.',
  },
  {
    file: 'functions/mastery/engine/reachability.ts',
    changes: [
      [
        '{ if (hasSpare) return; for (const kind of rules.kinds) if (!isUseful(kind)) for (const item of kind.items) items[item] = 0; }',
        '{}',
      ],
      ['!isUseful(kind)', 'false'],
    ],
    reason: 'Saves working out gains of items that are not admitted when their turn comes.',
  },
  {
    file: 'functions/mastery/engine/reachability.ts',
    line: 'if (hasSpare) return',
    changes: [['hasSpare', 'true']],
    reason: 'Saves working out gains of items that are not admitted when their turn comes.',
  },
  {
    file: 'functions/mastery/engine/reachability.ts',
    changes: [
      ['whole.slots > 0', 'false'],
      ['hasSpare && fits(spare, kind)', 'false'],
      ['hasSpare || isUseful(kind)', 'true'],
    ],
    reason: 'Saves a search for a plan, which has the same answer.',
  },
  unseenList(
    'functions/mastery/engine/selection.ts',
    'itemsByTag.get(guid) ?? []',
    'There for the compiler: every GUID of a quota has its list.',
  ),
  unseenList(
    'functions/mastery/engine/selection.ts',
    'itemsByTag.set(guid, [])',
    'Equivalent: what is no item of the model counts towards nothing.',
  ),
  unseenList(
    'functions/mastery/engine/selection.ts',
    'byIdentifier.get(name) ?? []',
    'Equivalent: what is no item of the model counts towards nothing.',
  ),
  unseenList(
    'functions/mastery/engine/selection.ts',
    'model.itemKcs[item] ?? []',
    'There for the compiler: every item of the model has its KCs.',
  ),
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [['model.itemKcs[item]?.some', 'model.itemKcs[item].some']],
    reason: 'There for the compiler: every item of the model has its KCs.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [['minimumGain === undefined', 'false']],
    reason: 'No gain is below none: works out gains that decide nothing.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [
      ['share * (look[CHANCE_LOOK - 1] ?? 0)', 'share / (look[CHANCE_LOOK - 1] ?? 0)'],
      ['(chances[item] ?? NaN) >= enough', '(chances[item] ?? NaN) > enough'],
      ['(chances[item] ?? NaN) >= enough', 'true'],
    ],
    reason: 'No gain is above one bit: more gains are worked out, and the best is the same.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [['(best()?.gain ?? -Infinity) - MARGIN', '(best()?.gain ?? -Infinity) + MARGIN']],
    reason: 'Only a weight that lies within rounding of the best could be passed over.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [['item < eligible.length', 'item <= eligible.length']],
    reason: 'Equivalent: a write beyond the end of a typed array has no effect.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [['items.length === 1', 'false']],
    reason: 'Saves a hash: there is nothing to put in order.',
  },
  {
    file: 'functions/mastery/engine/selection.ts',
    changes: [
      ['a > b', 'true'],
      ['a > b', 'a >= b'],
      ['a < b', 'a <= b'],
    ],
    reason: 'Equivalent: no two items have the same artifact version, and so none the same hash.',
  },
  {
    file: 'functions/mastery/engine/exposure.ts',
    changes: [['best.length < 2', 'false']],
    reason: 'Saves a draw that has one outcome.',
  },
  {
    file: 'functions/mastery/engine/exposure.ts',
    changes: [['item < items', 'item <= items']],
    reason: 'Equivalent: a write beyond the end of a typed array has no effect.',
  },
  {
    file: 'functions/mastery/engine/exposure.ts',
    line: 'probability * DRAWS',
    changes: [
      [
        'draw(`sympson_hetter|${runSeed}|${idOf(candidate.item)}`) < probability * DRAWS',
        'draw(`sympson_hetter|${runSeed}|${idOf(candidate.item)}`) <= probability * DRAWS',
      ],
    ],
    reason: 'One draw in 2^48 meets the probability exactly.',
  },
  {
    file: 'functions/reports/access/claims.ts',
    changes: [
      ['classSourcedId !== null', 'true'],
      ['schoolSourcedId !== null', 'true'],
    ],
    reason: 'Equivalent: no claim lists null. The comparison is there for the compiler.',
  },
  {
    file: 'functions/reports/analysis/metrics/judge-metric.ts',
    changes: [["subject !== 'sourceKeys'", 'true']],
    reason: 'Equivalent: no row has source keys. The comparison is there for the compiler.',
  },
  {
    file: 'functions/reports/analysis/orders/derive-orders.ts',
    changes: [['caseGuids.length <= MAX_SUBJECTS', 'caseGuids.length < MAX_SUBJECTS']],
    reason: 'Equivalent: the one part of as many GUIDs as an order can name is made anew.',
  },
  {
    file: 'functions/reports/composition/page.ts',
    changes: [["'The index of attempts is not current at Results.'", '""']],
    reason: wording,
  },
  unseenList(
    'functions/reports/composition/readiness.ts',
    'enrichments: []',
    'Equivalent: an enrichment adds a receipt to the report, and readiness does not show the report’s receipts.',
  ),
  {
    file: 'functions/reports/cursor/cursor.ts',
    changes: [
      ['`${list}: a cursor of ${token.length} characters`', '``'],
      ["'a position is not well-formed text'", '""'],
    ],
    reason: internal,
  },
  {
    file: 'shared/contract/reports/invariants/attempt-report.ts',
    changes: [['gate.achieved >= gate.required', 'gate.achieved > gate.required']],
    reason: 'Equivalent: two equal numbers can be one value.',
  },
  {
    file: 'shared/contract/reports/invariants/lists.ts',
    changes: [
      ["{ noKey: 'They are sentences for people.' }", '{}'],
      ["'They are sentences for people.'", '""'],
      ["'Each is an occurrence of its own.'", '""'],
      ["{ noKey: 'A member may be wrong in two ways.' }", '{}'],
      ["'A member may be wrong in two ways.'", '""'],
    ],
    reason: declared,
  },
  {
    file: 'shared/http/auth/key-set.ts',
    changes: [["{ accept: 'application/jwk-set+json, application/json' }", '{}']],
    reason: 'A courtesy to the issuer: the key set is read as JSON whatever its media type is.',
  },
  {
    file: 'shared/idempotency/request-identity.ts',
    changes: [['`canonicalPath: no value for ${name}`', '``']],
    reason: internal,
  },
  {
    file: 'shared/idempotency/persistence-layer.ts',
    changes: [['{ return this.#attempt.record.id; }', '{}']],
    reason: 'Powertools carries this key along and hands it back; the layer never reads it.',
  },
  {
    file: 'shared/idempotency/persistence-layer.ts',
    changes: [
      ['this.#record === undefined', 'false'],
      ["{ throw new Error('A record is read a second time.'); }", '{}'],
      ["'The work begins before its control record.'", '""'],
      ["'A record of this key exists.'", '""'],
      ["'A record is read a second time.'", '""'],
    ],
    reason:
      'A guard against a mistake in the code or in Powertools, and its message: no request can cause it.',
  },
  {
    file: 'shared/tokens/sealed-token.ts',
    changes: [['{ return undefined; }', '{}']],
    reason: 'Equivalent: a function that ends without a return statement returns undefined.',
  },
  {
    file: 'shared/tokens/sealed-token.ts',
    line: 'compactDecrypt',
    changes: [
      [
        "{ keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'], maxDecompressedLength: 0, }",
        '{}',
      ],
    ],
    reason: 'A second barrier: the header check has refused every other algorithm and any compression.',
  },
  {
    file: 'shared/http/auth/verify-token.ts',
    line: 'decodeUtf8(',
    changes: [["''", '"Stryker was here!"']],
    reason: 'Equivalent: neither text is JSON.',
  },
];

/** Code on one line. */
export const flat = (code: string): string => code.replaceAll(/\s+/g, ' ');

/** Whether a mutant may survive. */
export function isArgued({
  file,
  line,
  original,
  replacement,
}: Pick<Mutant, 'file' | 'line' | 'original' | 'replacement'>): boolean {
  return arguedMutants.some(
    (argued) =>
      argued.file === file &&
      argued.changes.some(([from, to]) => from === flat(original) && to === flat(replacement)) &&
      (argued.line === undefined ||
        readFileSync(join(projectRoot, file), 'utf8').split('\n')[line - 1]?.includes(argued.line) === true),
  );
}
