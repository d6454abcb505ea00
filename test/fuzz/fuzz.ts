/**
 * Looks for facts of owners that cannot be true at once, and that an answer shows all the same. A draw takes the truthful facts of a route
 * (`subjects.ts`), changes one or two of them as the schemas of the owners have it (`changes.ts`), and asks the route. It finds
 *
 * - a fault: an answer that breaks an invariant or its schema, that the second composer (`oracle`) does not give, or a problem where it gives
 *   an answer (`answer-checker.ts`);
 * - a pair: two members in which alone an answer to two changes differs from the truthful one, of which no invariant, no condition of the
 *   schema and no accepted pair speaks. A person reads it: if both cannot be true, it becomes an invariant, otherwise it is accepted with
 *   the reason (`accepted-pairs.ts`).
 *
 * A finding ends with the seed and the number of its draw, and with a draw that is as small as the search had time for.
 */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { acceptedPairs, type AcceptedPairs } from './accepted-pairs.ts';
import { applyChange, chooseChange, type Change } from './changes.ts';
import { createAnswerChecker, type AnswerChecker } from './answer-checker.ts';
import { differing } from './members.ts';
import { subjects, type Answer, type Case, type SubjectName } from './subjects.ts';

/** One draw: the truthful case, and the same one with changes. */
export interface Draw {
  readonly name: SubjectName;
  readonly truthful: Case;
  readonly changed: Case;
  readonly changes: readonly Change[];
}

/** How a route is asked: a test may put something between. */
export type AskRoute = (name: SubjectName, asked: Case) => Promise<Answer>;
export const askRoute: AskRoute = (name, asked) => subjects[name].ask(asked);

const weights: Readonly<Record<SubjectName, number>> = {
  ...{ report: 5, readiness: 3, equivalence: 2, classCohort: 1, schoolCohort: 1 },
};
const names = Object.keys(weights) as SubjectName[];

/** Any draw. */
const draws: Arbitrary<Draw> = fc
  .tuple(
    fc.oneof(
      ...names.map((name) => ({
        weight: weights[name],
        arbitrary: (subjects[name].cases as Arbitrary<Case>).map((truthful) => ({ name, truthful })),
      })),
    ),
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.boolean()), { minLength: 1, maxLength: 2 }),
  )
  .map(([{ name, truthful }, choices]) => {
    const changes: Change[] = [];
    let { answers } = truthful;
    for (const choice of choices) {
      const change = chooseChange(answers, choice);
      changes.push(change);
      answers = applyChange(answers, change);
    }
    return { name, truthful, changed: { ...truthful, answers }, changes };
  });

type Pair = readonly [string, string];

/** What a draw finds: faults of the answer, and the two members, or the one, in which it differs from the truthful answer. */
interface Found {
  readonly isAnswered: boolean;
  readonly faults: readonly string[];
  readonly pair?: Pair;
}

async function find(
  { name, truthful, changed, changes }: Draw,
  ask: AskRoute,
  checker: AnswerChecker,
): Promise<Found> {
  const answer = await ask(name, changed);
  const faults = checker.faultsOf(name, changed, answer);
  if (changes.length < 2 || 'problem' in answer) return { faults, isAnswered: 'body' in answer };
  const sound = await ask(name, truthful);
  if ('problem' in sound)
    return { faults: [`${name} refuses unchanged facts: ${sound.problem}`], isAnswered: true };
  // The status of a report follows its gate.
  const all = new Set(differing(sound.body, answer.body));
  const [first, second = first, ...more] = [...all]
    .filter((member) => member !== 'status' || !all.has('gate/status'))
    .toSorted();
  if (first === undefined || second === undefined || more.length > 0) return { faults, isAnswered: true };
  // Two changes of one member are a pair where there are several of it.
  if (first === second && !first.includes('*')) return { faults, isAnswered: true };
  return { faults, isAnswered: true, pair: [first, second] };
}

/** What was found, each line with how often and with the least draw that shows it. */
export interface Outcome {
  readonly drawn: number;
  readonly answered: number;
  readonly pairs: number;
  readonly findings: readonly string[];
}

/** Draws, and lists every fault, and every pair of members that nothing speaks of. */
export async function fuzz(
  seed: number,
  count: number,
  ask: AskRoute = askRoute,
  accepted = acceptedPairs,
): Promise<Outcome> {
  const checker = createAnswerChecker();
  const found = new Map<string, { at: number; times: number }>();
  const pairs = new Map<string, { name: SubjectName; pair: Pair }>();
  let [drawn, answered] = [0, 0];
  const note = (line: string): void => {
    const { at = drawn, times = 0 } = found.get(line) ?? {};
    found.set(line, { at, times: times + 1 });
  };
  await fc.assert(
    fc.asyncProperty(draws, async (draw) => {
      const { isAnswered, faults, pair } = await find(draw, ask, checker);
      faults.forEach(note);
      if (pair !== undefined) {
        note(sentenceOf(draw.name, pair));
        pairs.set(sentenceOf(draw.name, pair), { name: draw.name, pair });
      }
      drawn += 1;
      if (isAnswered) answered += 1;
    }),
    { seed, numRuns: count },
  );
  // What an invariant reads is known only now.
  for (const [line, { name, pair }] of pairs)
    if (checker.isMentioned(name, pair) || isAccepted(accepted, name, pair)) found.delete(line);
  const findings: string[] = [];
  for (const [rank, [line, { at, times }]] of [...found].entries())
    findings.push(
      `${line} (${times} of ${drawn})${await leastOf(line, { seed, path: `${at}`, endOnFailure: rank >= SEARCHED }, ask)}`,
    );
  return { drawn, answered, pairs: pairs.size, findings };
}

const sentenceOf = (name: SubjectName, [first, second]: Pair): string => `${name} ${first} × ${second}`;

/** How many draws it takes until a fault is found, or undefined if none is. */
export async function drawsUntilFault(
  seed: number,
  count: number,
  ask: AskRoute,
): Promise<number | undefined> {
  const checker = createAnswerChecker();
  const isSound = fc.asyncProperty(
    draws,
    async (draw) => (await find(draw, ask, checker)).faults.length === 0,
  );
  const { failed, numRuns } = await fc.check(isSound, { seed, numRuns: count, endOnFailure: true });
  return failed ? numRuns : undefined;
}

/** How long the search for the least draw of a finding takes at most, in milliseconds. */
const SEARCH_MS = 2_000;
/** How many findings are worth such a search. */
const SEARCHED = 3;

/** The least draw that shows a finding, as it is read by a person. */
async function leastOf(
  line: string,
  replay: { readonly seed: number; readonly path: string; readonly endOnFailure: boolean },
  ask: AskRoute,
): Promise<string> {
  const checker = createAnswerChecker();
  const isWithout = fc.asyncProperty(draws, async (draw) => {
    const { faults, pair } = await find(draw, ask, checker);
    return !faults.includes(line) && (pair === undefined || sentenceOf(draw.name, pair) !== line);
  });
  const { counterexample } = await fc.check<[Draw]>(isWithout, {
    ...replay,
    // SAFETY: it looks at no value; its type is of draws of nothing known.
    plugins: [fc.interruptAfterTimeLimit(SEARCH_MS) as never],
  });
  const where = `seed ${replay.seed}, draw ${replay.path}`;
  if (counterexample === null) return `\n  ${where}`;
  const [{ changes, truthful }] = counterexample;
  const said = changes.map(
    ({ operation, path, value, everywhere }) =>
      `${[operation, ...path].join('/')} = ${JSON.stringify({ value })}${everywhere ? ' everywhere' : ''}`,
  );
  return `\n  ${where}: ${said.join(' and ')}\n  of ${JSON.stringify(truthful)}`;
}

/** Whether a pair is among the accepted ones. */
function isAccepted(accepted: readonly AcceptedPairs[], name: SubjectName, [first, second]: Pair): boolean {
  const object = name === 'classCohort' || name === 'schoolCohort' ? 'cohort' : name;
  return accepted.some(({ of, members, beside = [first, second] }) => {
    const isOne = members.includes(first) && beside.includes(second);
    return of.includes(object) && (isOne || (members.includes(second) && beside.includes(first)));
  });
}
