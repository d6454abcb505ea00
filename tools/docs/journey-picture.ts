import * as Plot from '@observablehq/plot';
import {
  compileModel,
  prepareSelection,
  simulatedRunSeed,
  simulateRun,
  computeEvidence,
} from '#functions/mastery/engine/index.ts';
import type { Classification, Evidence } from '#functions/mastery/engine/index.ts';
import { findBank, type JourneyBank } from '#local/journey/bank.ts';
import { simulatedLearner } from '#local/journey/learner.ts';
import { DEFAULT_SEED_DIRECTORY, loadSeed } from '#local/seeds/load.ts';
import { renderDefects } from '#local/seeds/seed.ts';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { chart } from '#tools/page/charts.ts';
import { htmlOf, markup } from '#tools/page/markup.ts';
import { brief, colour } from '#tools/page/plot.ts';

/** One run of the local seed's first bank: what is known before the first item and after each one. */
interface Run {
  readonly bank: JourneyBank;
  readonly states: readonly Evidence[];
  /** Whether the answer to each item was correct. */
  readonly answers: readonly boolean[];
}

const WIDTH = 760;
const NAMES_WIDTH = 290;
const CELLS_HEIGHT = 300;
const SCALE_HEIGHT = 210;
const TOP = 84;
const HEIGHT = TOP + CELLS_HEIGHT + SCALE_HEIGHT;
/** A learner with a clear result: some components mastered, some gaps. */
const RANDOM_SEED = 10;

/**
 * The picture of a run in the README, as a standalone SVG: the posterior of each knowledge component and the scale score, item by item. It
 * is drawn from a run that the engine takes on the built-in bank, so it has the same bytes until bank or engine change.
 * @throws {Error} when the built-in seed is not usable
 */
export async function renderJourneyPicture(): Promise<string> {
  const run = await takeRun();
  return htmlOf(markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-labelledby="t">
<title id="t">An adaptive run: what is known of a learner after each item</title>
<style>
:root { --paper: #ffffff; --ink: #1c2024; --soft: #5b636b; --one: #0b5cad; --two: #a84300; --band: #dbe7f4; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --soft: #a3abb3; --one: #6cb2ff; --two: #ff9d5c; --band: #1c3550; } }
</style>
<rect width="${WIDTH}" height="${HEIGHT}" fill="var(--paper)"/>
<g fill="var(--ink)"><text x="16" y="30" font-size="17" font-weight="600">One simulated learner, ${run.answers.length} items</text>
<text x="16" y="54" fill="var(--soft)">Probability of mastery per knowledge component, after each item. A letter marks a settled decision:</text>
<text x="16" y="73" fill="var(--soft)">M mastered, G gap. The run stops when every decision is settled.</text></g>
<g color="var(--ink)"><g transform="translate(0 ${TOP})">${cells(run)}</g>
<g transform="translate(0 ${TOP + CELLS_HEIGHT})">${scale(run)}</g>
<text x="16" y="${TOP + CELLS_HEIGHT + 40}" fill="var(--ink)">Scale score ± one standard error</text></g>
</svg>
`);
}

async function takeRun(): Promise<Run> {
  const seed = await loadSeed(DEFAULT_SEED_DIRECTORY);
  if (!seed.ok) throw new Error(renderDefects(seed.error));
  const bank = findBank(seed.value, localTenantIds[0], undefined);
  if (!bank.ok) throw new Error(bank.error);
  const { items } = bank.value.parameters;
  const model = compileModel(bank.value.parameters);
  const policy = seed.value.banks[0]?.policy;
  if (!model.ok || policy === undefined)
    throw new Error('the built-in bank has a sound calibration and a policy');
  const { maxItems, confidenceThreshold, kcCutScore, precisionTarget } = policy;
  const scope = [...model.value.kcGuids.keys()];
  const context = prepareSelection(
    model.value,
    items.map(({ artifactVersionId, qtiIdentifier, kcs }, item) => ({
      item,
      artifactVersionId,
      qtiIdentifier,
      tags: kcs,
      accessibility: [],
    })),
    { scope, maxItems, requiredAccessibility: [], excludedItems: [], enemySets: [], minima: [], maxima: [] },
  );
  const rules = {
    kcCutScore,
    confidenceThreshold,
    precisionTarget,
    numericPrecision: 12,
    coverageFloors: [],
    timeBudgetSeconds: null,
  };
  const learner = simulatedLearner(bank.value.parameters, RANDOM_SEED);
  const version = (item: number): string => items[item]?.artifactVersionId ?? '';
  const { outcomes } = simulateRun(
    context,
    rules,
    simulatedRunSeed(learner.description),
    (item) => learner.answer(version(item)) === true,
  ).evidence;
  return {
    bank: bank.value,
    states: Array.from({ length: outcomes.length + 1 }, (_, count) =>
      computeEvidence(model.value, scope, rules, outcomes.slice(0, count)),
    ),
    answers: outcomes.map(({ correct }) => correct),
  };
}

const letters = { mastered: ' M', gap: ' G', not_yet: '' } satisfies Record<Classification, string>;

/** One row per knowledge component, one column per item. */
function cells({ bank, states, answers }: Run): ReturnType<typeof chart> {
  const names = [...bank.labels.values()].map((name) => brief(name, 38));
  const all = states.flatMap(({ estimate, classifications }, count) =>
    names.map((name, kc) => {
      const posterior = estimate.kcPosteriors[kc] ?? NaN;
      return {
        name,
        count,
        posterior,
        text: `${posterior.toFixed(2)}${letters[classifications[kc] ?? 'not_yet']}`,
      };
    }),
  );
  return chart(
    { id: 'cells', title: 'Probability of mastery', description: 'per knowledge component, after each item' },
    {
      width: WIDTH,
      height: CELLS_HEIGHT,
      marginLeft: NAMES_WIDTH,
      marginTop: 8,
      x: {
        type: 'band',
        label: null,
        tickSize: 0,
        tickFormat: (count: number) => {
          const answer = answers[count - 1];
          return answer === undefined ? 'start' : `${count}\n${answer ? 'right' : 'wrong'}`;
        },
      },
      y: { type: 'band', domain: names, label: null, tickSize: 0 },
      marks: [
        Plot.cell(all, {
          x: 'count',
          y: 'name',
          inset: 1,
          fill: ({ posterior }: (typeof all)[number]) => (posterior < 0.5 ? colour.two : colour.one),
          fillOpacity: ({ posterior }: (typeof all)[number]) => 0.04 + 0.5 * Math.abs(2 * posterior - 1),
        }),
        Plot.text(all, { x: 'count', y: 'name', text: 'text', fill: colour.ink, fontSize: 11 }),
      ],
    },
  );
}

/** The scale score as a line with its standard error as a band. */
function scale({ states }: Run): ReturnType<typeof chart> {
  const points = states.map(({ estimate: { scaleScore, standardError } }, count) => ({
    count,
    score: scaleScore,
    low: scaleScore - standardError,
    high: scaleScore + standardError,
  }));
  return chart(
    {
      id: 'scale',
      title: 'Scale score',
      description: 'with one standard error on both sides, after each item',
    },
    {
      width: WIDTH,
      height: SCALE_HEIGHT,
      marginLeft: NAMES_WIDTH,
      x: {
        type: 'point',
        label: null,
        padding: 0.5,
        tickFormat: (count: number) => (count === 0 ? 'start' : String(count)),
      },
      y: { label: null, grid: true, ticks: 5, nice: true },
      marks: [
        Plot.areaY(points, { x: 'count', y1: 'low', y2: 'high', fill: colour.band }),
        Plot.line(points, { x: 'count', y: 'score', stroke: colour.one, strokeWidth: 2 }),
        Plot.dot(points, { x: 'count', y: 'score', r: 3.5, fill: colour.one, stroke: 'none' }),
        Plot.text(points, {
          x: 'count',
          y: 'score',
          text: ({ score }: (typeof points)[number]) => score.toFixed(0),
          dy: -12,
          fill: colour.ink,
          fontSize: 11,
        }),
      ],
    },
  );
}
