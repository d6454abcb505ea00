import type { Constraints } from '#functions/mastery/engine/index.ts';
import { engineExample, exposureMethods } from '#test/reference/exposure-methods.ts';
import { kcGuid, type BankSize } from '../bank.ts';
import { above, duration, guardIn, verdict, ratio, table, timeAll } from '../measure.ts';
import type { Part, Progress, Report, Timed } from '../measure.ts';
import {
  bankOf,
  contextOf,
  positionsOf,
  qtiIdentifier,
  range,
  REFERENCE,
  referenceOf,
  select,
  standard,
  type Bank,
} from './positions.ts';

/** Aims in milliseconds, on a machine like a Lambda with one whole processor. */
const NEXT_ITEM_P50 = 1;
const NEXT_ITEM_P95 = 2;
/** A guard is ours: with some room above what the ratio is today. A policy may make the choice dearer than a plain one. */
const POLICY_GUARD = 10;

const policies: readonly {
  readonly name: string;
  readonly policy: Partial<Constraints>;
  readonly alike?: boolean;
  readonly prior?: BankSize['prior'];
}[] = [
  { name: 'plain', policy: {} },
  { name: 'plain, all items alike', policy: {}, alike: true },
  ...exposureMethods.map((method) => ({
    name: method,
    policy: { exposure: engineExample(method, range(REFERENCE.items).map(qtiIdentifier)) },
  })),
  { name: 'unsettled components, half of the KCs', policy: { selectionTarget: 'unsettled_components' } },
  {
    name: 'unsettled and unmeasured, half of the KCs',
    policy: { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0.1 },
  },
  {
    name: 'look-ahead, half of the KCs',
    policy: { selectionTarget: 'settling_look_ahead', unmeasuredCredit: 0.1, settlingCredit: 0.2 },
  },
  {
    name: '20 minima, two thirds of the run',
    policy: { minima: range(20).map((n) => ({ guid: standard(2 * n), items: 2 })) },
  },
  {
    name: '20 minima, the whole run',
    policy: { minima: range(20).map((n) => ({ guid: standard(2 * n), items: 3 })) },
  },
  {
    name: '20 minima, the whole run, all items alike',
    policy: { minima: range(20).map((n) => ({ guid: standard(2 * n), items: 3 })) },
    alike: true,
  },
  {
    name: '20 coverage floors on KCs',
    policy: { minima: range(20).map((n) => ({ guid: kcGuid(25 * n), items: 2 })) },
  },
  {
    name: '20 minima, 20 maxima, 500 enemy sets',
    policy: {
      minima: range(20).map((n) => ({ guid: standard(2 * n), items: 2 })),
      maxima: range(20).map((n) => ({ guid: standard(n), items: 5 })),
      enemySets: range(500).map((n) => range(3).map((i) => qtiIdentifier(20 * n + i))),
    },
  },
  ...(['curves', 'chains', 'strands'] as const).flatMap((prior) => [
    { name: `blocks: ${prior}`, policy: {}, prior },
    {
      name: `blocks: ${prior}, unsettled components, half of the KCs`,
      policy: { selectionTarget: 'unsettled_components' as const },
      prior,
    },
  ]),
];

async function nextItem(progress: Progress, isQuick: boolean): Promise<Report> {
  progress('making the banks');
  const banks = new Map<string, Bank>();
  const cases = policies.map(({ name, policy, alike = false, prior }): Timed => {
    progress(`${name}: walking through runs`);
    const key = `${alike} ${prior}`;
    const size = { ...referenceOf(isQuick), alike };
    const bank = banks.get(key) ?? bankOf(prior === undefined ? size : { ...size, prior });
    banks.set(key, bank);
    const context = contextOf(bank, policy);
    return {
      name,
      calls: positionsOf(context, isQuick ? 1 : 3).map((position) => () => select(context, position)),
    };
  });
  const policyGuard = guardIn(POLICY_GUARD, isQuick);
  const timings = await timeAll(cases, isQuick ? 2 : 5, progress);
  /** The timings of the plain policy on the same bank. */
  const plain = policies.map(
    ({ alike }) => timings[policies.findIndex((other) => other.alike === alike)]?.best ?? NaN,
  );
  const ratios = timings.map(({ best }, n) => best / (plain[n] ?? NaN));
  return {
    text: table(
      [
        '',
        'p50',
        'p95',
        'CPU, mean',
        'best',
        'to plain',
        'guard',
        `aim: p50 ≤ ${NEXT_ITEM_P50}, p95 ≤ ${NEXT_ITEM_P95} ms`,
      ],
      timings.map(({ name, p50, p95, cpu, best }, n) => [
        name,
        ...[p50, p95, cpu, best].map(duration),
        ratio(ratios[n] ?? NaN),
        `≤ ${policyGuard}`,
        verdict(p50 <= NEXT_ITEM_P50 && p95 <= NEXT_ITEM_P95),
      ]),
    ),
    missed: policies.flatMap(({ name }, n) =>
      above(`next item, ${name}, to plain`, ratios[n] ?? NaN, policyGuard),
    ),
  };
}

export const nextItemPart: Part = {
  title: 'Next item: 10,000 items, 500 KCs, 61 nodes, at every place of 60-item runs',
  run: nextItem,
};
