import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { seedFromResponses } from '#local/seeds/from-responses.ts';
import { oracleOf } from '#test/reference/calibrated-oracle.ts';
import { useAdaptiveRuns } from '#test/support/adaptive-run.ts';
import { useTestStack } from '#test/support/stack.ts';
import { bankOf, takeJourney } from '#test/support/take-journey.ts';

/** A study that nobody has seen: three skills, eleven items that need one to three of them, DINA and general tables side by side. */
const kcs = [
  { kc: 'α: read', slope: 1.9, location: -0.7 },
  { kc: 'order of operations', slope: 2.3, location: 0.1 },
  { kc: 'z/3', slope: 1.4, location: 0.8 },
];
const items = [
  [[0], [0.12, 0.91]],
  [[1], [0.2, 0.85]],
  [[2], [0.08, 0.94]],
  [
    [0, 1],
    [0.1, 0.35, 0.3, 0.9],
  ],
  [
    [2, 1],
    [0.15, 0.2, 0.55, 0.92],
  ],
  [
    [0, 2],
    [0.05, 0.5, 0.4, 0.95],
  ],
  [
    [1, 2, 0],
    [0.05, 0.2, 0.25, 0.45, 0.2, 0.5, 0.6, 0.97],
  ],
] as const;

function study(): Parameters<typeof seedFromResponses>[0] {
  const tabled = items.map(([needs, probabilities], at) => ({
    item: `Q ${at + 1}`,
    kcs: needs.map((kc) => kcs[kc]!.kc),
    probabilities,
  }));
  const dina = [0, 1, 2, 0].map((kc, at) => ({
    item: `D${at}`,
    kcs: [kcs[kc]!.kc],
    guess: 0.1 + at / 20,
    slip: 0.05 + at / 50,
  }));
  const all = [...tabled, ...dina];
  const csv = (rows: readonly (readonly unknown[])[]): string => rows.map((row) => row.join(',')).join('\n');
  const answers = (learner: number) => all.map((_, at) => ((at * 7 + learner * 5) % 3 === 0 ? 0 : 1));
  return {
    'parameters.json': JSON.stringify({
      name: 'Unseen study',
      theta: { nodes: 21, min: -4, max: 4, mean: 0.2, sd: 1.3 },
      kcs,
      items: all,
    }),
    'q-matrix.csv': csv([
      ['item', ...kcs.map(({ kc }) => kc)],
      ...all.map((item) => [item.item, ...kcs.map(({ kc }) => (item.kcs.includes(kc) ? 1 : 0))]),
    ]),
    'responses.csv': csv([
      ['learner', ...all.map(({ item }) => item)],
      ...[0, 1, 2, 3].map((learner) => [`L${learner}`, ...answers(learner)]),
    ]),
  };
}

const made = seedFromResponses(study(), { name: undefined, fallbackName: 'study' });
if (!made.ok) throw new Error(made.error.join('\n'));
const directory = mkdtempSync(join(tmpdir(), 'unseen-bank-'));
for (const [path, value] of Object.entries(made.value.files)) {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), JSON.stringify(value));
}
const stack = useTestStack({ seedDirectory: directory });
const runs = useAdaptiveRuns(stack);
afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe('a bank that was made from responses', () => {
  it.each([1, 2, 3, 4])(
    'takes learner %i to the stop, with what brute force says at each answer [MA-095, MA-186]',
    async (learner) => {
      const bank = bankOf(stack.seed, 'tenant-aurora');
      expect([bank.fixture.items, bank.fixture.kcs]).toEqual([11, 3]);
      const journey = await takeJourney(runs, { bank, learner, mode: 'production_learner' });
      expect(['classifications_complete', 'max_items']).toContain(journey.last.body.stopReason);
      for (const { given, consumed } of journey.steps) {
        const oracle = oracleOf(
          bank.parameters,
          journey.answered
            .slice(0, consumed)
            .map(({ item, correct }) => ({ artifactVersionId: item.artifactVersionId, correct })),
        )!;
        for (const { caseCompetencyGuid, posteriorProbability } of given.body.kcClassifications)
          expect(posteriorProbability).toBeCloseTo(oracle.kcs.get(caseCompetencyGuid)!, 11);
        if (given.body.scale !== null) expect(given.body.scale.scaleScore).toBeCloseTo(oracle.scaleScore, 8);
      }
    },
  );
});
