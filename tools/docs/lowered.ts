import { compileModel, estimate, type Outcome } from '#functions/mastery/engine/index.ts';
import { findBank } from '#local/journey/bank.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';

/** Two items of the built-in bank: the first needs two components, the second only one of them. */
const [BOTH, ONE] = [11, 5];

/**
 * Renders the worked example of docs/uncertainty.md: a right answer that lowers another component.
 * @throws {Error} if the built-in bank is not usable, or no longer shows this
 */
export async function renderLowered(): Promise<string> {
  const seed = await loadSeed(DEFAULT_SEED_DIRECTORY);
  const bank = seed.ok ? findBank(seed.value, localTenantIds[0], undefined) : seed;
  if (!bank.ok) throw new Error('the built-in bank is not usable');
  const { parameters, labels } = bank.value;
  const model = compileModel(parameters);
  if (!model.ok) throw new Error('the built-in bank has no sound calibration');
  const { kcGuids } = model.value;
  const [shared] = parameters.items[ONE]?.kcs ?? [];
  const other = parameters.items[BOTH]?.kcs.find((guid) => guid !== shared);
  const steps: readonly (readonly [string, readonly Outcome[]])[] = [
    ['no answer', []],
    [`item ${BOTH + 1}, which needs both: wrong`, [{ item: BOTH, correct: false }]],
    [
      `item ${ONE + 1}, which needs the first: right`,
      [
        { item: BOTH, correct: false },
        { item: ONE, correct: true },
      ],
    ],
  ];
  const rows = steps.map(([step, outcomes]) => {
    const { kcPosteriors } = estimate(model.value, outcomes);
    return [step, ...[shared, other].map((guid = '') => kcPosteriors[kcGuids.indexOf(guid)] ?? NaN)] as const;
  });
  const [, before, after] = rows;
  if (!(Number(after?.[1]) > Number(before?.[1]) && Number(after?.[2]) < Number(before?.[2])))
    throw new Error('the example of docs/uncertainty.md no longer shows what its text explains');
  const head = ['After', labels.get(shared ?? ''), labels.get(other ?? '')].join(' | ');
  return [
    `| ${head} |\n| --- | ---: | ---: |`,
    ...rows.map(
      ([step, first, second]) => `| ${step} | ${Number(first).toFixed(2)} | ${Number(second).toFixed(2)} |`,
    ),
  ].join('\n');
}
