/**
 * Replays learners adaptively: looks up each answer in the table of responses, and compares the final classifications with those from all of the
 * learner's answers. Items that a learner did not answer are not offered.
 */
import { Option } from '@commander-js/extra-typings';
import {
  compileModel,
  estimate,
  nextStep,
  prepareSelection,
  computeEvidence,
  type Classification,
  type CompiledModel,
  type CalibratedParameters,
  type Constraints,
  type Outcome,
  type SelectionContext,
} from '#functions/mastery/engine/index.ts';
import { eligibilityRules } from '#shared/contract/mastery/selection-policy.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { referenceBlocks, referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { studyOptions, tableOptions, type TableOptions } from '#tools/terminal/study/options.ts';
import { MISSING } from '#tools/terminal/study/values.ts';
import { readResponseFiles, readStudy, shorten, type ResponseFiles } from '#tools/terminal/study.ts';
import { decimal, examples, exits, integer, program, run, text } from '#tools/terminal/command.ts';

const selectionTargets = eligibilityRules.shape.selectionTarget.unwrap().options;
type SelectionTarget = (typeof selectionTargets)[number];

const share = decimal('from 0 to 1', (n) => n >= 0 && n <= 1);
const command = studyOptions(
  program(
    'npm run replay --',
    'Replays the learners of a study adaptively and compares the classifications with those from all their answers.\n' +
      'DIR contains responses.csv, q-matrix.csv and parameters.json, as npm run calibrate -- --with-data writes them.',
  ).requiredOption('--data <DIR>', 'the study to replay (required)', text),
)
  .option('--confidence <P>', 'confidence threshold of the classification', share, 0.8)
  .option('--cut <P>', 'mastery cut on the posterior', share, 0.5)
  .addOption(
    new Option('--target <TARGET>', 'what items are chosen for, as in a policy (docs/engine.md)')
      .choices(selectionTargets)
      .default('latent_state' as const),
  )
  .option('--limit <N>', 'only the first N learners', integer(1, 1_000_000))
  .option('--verify', 'also check every final posterior against brute force, and print the log-likelihood')
  .option('--json', 'print the figures as one JSON document')
  .addHelpText('after', examples('npm run replay -- --data .local/fit --confidence 0.9'));

const PRECISION = 12;

/** What each target needs, in bits: what the built-in policies have, and what is best in small banks. */
const credits: Readonly<Record<SelectionTarget, Pick<Constraints, 'unmeasuredCredit' | 'settlingCredit'>>> = {
  latent_state: {},
  unsettled_components: {},
  unsettled_and_unmeasured: { unmeasuredCredit: 0.1 },
  settling_look_ahead: { unmeasuredCredit: 0.1, settlingCredit: 0.2 },
};

interface Learner {
  readonly id: string;
  /** Undefined if there is no answer. */
  readonly answers: readonly (boolean | undefined)[];
}

interface Replay {
  readonly length: number;
  readonly classifications: readonly Classification[];
  /** Posteriors from all answers. */
  readonly full: readonly number[];
}

interface Policy {
  readonly kcCutScore: number;
  readonly confidenceThreshold: number;
}

interface ReplayedStudy {
  readonly parameters: CalibratedParameters;
  /** The labels of the knowledge components, in the order of the parameters. */
  readonly labels: readonly string[];
  readonly learners: readonly Learner[];
  /** Learners without any answer. */
  readonly leftOut: number;
}

/** Returns a study in the engine's terms. The scale is 500 + 100 theta. */
function replayedStudy(files: ResponseFiles, options: TableOptions): Result<ReplayedStudy, string> {
  const study = readStudy(files, options);
  if (!study.ok) return err(shorten(study.error));
  const { parameters, learners, leftOut } = study.value;
  const { theta, kcs, blocks, items } = parameters;
  const { nodes, min, max } = theta;
  const columns = new Map(study.value.items.map((item, at) => [item, at]));
  return ok({
    parameters: {
      theta,
      kcs: kcs.map(({ kc, slope, location }) => ({ guid: kc, slope, location })),
      blocks,
      items: items.map((item) => ({
        artifactVersionId: item.item,
        kcs: item.kcs,
        probabilities: successTable(item, item.kcs.length),
      })),
      scale: Array.from({ length: nodes }, (_, g) => 500 + 100 * (min + ((max - min) * g) / (nodes - 1))),
    },
    labels: kcs.map(({ kc, label = kc }) => (label === kc ? kc : `${kc}: ${label}`)),
    learners: learners.map(({ name, answers }) => ({
      id: name,
      answers: items.map(({ item }) => {
        const answer = answers[columns.get(item) ?? -1] ?? MISSING;
        return answer === MISSING ? undefined : answer === 1;
      }),
    })),
    leftOut,
  });
}

/** Returns the item's own table, or that of DINA: guess for every pattern except the one with all its knowledge components. */
function successTable(
  item: { readonly probabilities: readonly number[] } | { readonly guess: number; readonly slip: number },
  kcs: number,
): readonly number[] {
  if ('probabilities' in item) return item.probabilities;
  const size = 2 ** kcs;
  return Array.from({ length: size }, (_, s) => (s === size - 1 ? 1 - item.slip : item.guess));
}

function compile(parameters: CalibratedParameters): Result<CompiledModel, string> {
  const model = compileModel(parameters);
  return model.ok
    ? model
    : err(shorten(model.error.map((defect) => `parameters.json#${defect.pointer}: ${defect.message}`)));
}

/** Replays one run, until every KC is classified or no item is left that the learner answered. */
function replay(context: SelectionContext, policy: Policy, learner: Learner): Replay {
  const { model, constraints } = context;
  const rules = {
    ...policy,
    numericPrecision: PRECISION,
    // Only complete classifications or the end of the pool stop these runs.
    precisionTarget: 0,
    coverageFloors: [],
    timeBudgetSeconds: null,
  };
  const clock = {
    runSeed: sha256Hex(learner.id),
    elapsedMilliseconds: 0,
    // Excluded, like items of earlier runs.
    met: learner.answers.flatMap((answer, item) => (answer === undefined ? [item] : [])),
  };
  const outcomes: Outcome[] = [];
  for (;;) {
    const evidence = computeEvidence(model, constraints.scope, rules, outcomes);
    const step = nextStep(context, rules, evidence, clock);
    if (step.kind === 'stop') {
      const full = [...estimate(model, outcomesOf(learner)).kcPosteriors];
      return { length: outcomes.length, classifications: evidence.classifications, full };
    }
    outcomes.push({ item: step.item, correct: learner.answers[step.item] === true });
  }
}

/** Returns all answers of a learner. */
function outcomesOf({ answers }: Learner): readonly Outcome[] {
  return answers.flatMap((correct, item) => (correct === undefined ? [] : [{ item, correct }]));
}

function prepare(model: CompiledModel, selectionTarget: SelectionTarget): SelectionContext {
  const pool = model.itemIds.map((id, item) => ({
    item,
    artifactVersionId: id,
    qtiIdentifier: id,
    tags: (model.itemKcs[item] ?? []).map((kc) => model.kcGuids[kc] ?? ''),
    accessibility: [],
  }));
  return prepareSelection(model, pool, {
    scope: [...model.kcGuids.keys()],
    maxItems: pool.length,
    requiredAccessibility: [],
    enemySets: [],
    excludedItems: [],
    minima: [],
    maxima: [],
    priorUse: 'exclude',
    selectionTarget,
    ...credits[selectionTarget],
  });
}

interface Verification {
  readonly logLikelihood: number;
  readonly largestDifference: number;
}

/** Computes every learner's posterior from all answers, once by the engine and once by enumeration. */
function verify(
  parameters: CalibratedParameters,
  learners: readonly Learner[],
  replays: readonly Replay[],
): Verification {
  const index = new Map(parameters.kcs.map(({ guid }, k) => [guid, k]));
  const reference = {
    ...parameters.theta,
    kcs: parameters.kcs.map(({ slope = NaN, location = NaN }) => ({ slope, location })),
    items: parameters.items.map(({ kcs, probabilities }) => ({
      kcs: kcs.map((guid) => index.get(guid) ?? -1),
      success: probabilities,
    })),
    scale: parameters.scale,
    blocks: referenceBlocks(parameters.blocks ?? [], [...index.keys()]),
  };
  let total = 0;
  let largestDifference = 0;
  learners.forEach((learner, n) => {
    const expected = referencePosterior(reference, outcomesOf(learner));
    total += expected.logLikelihood;
    replays[n]?.full.forEach((p, kc) => {
      largestDifference = Math.max(largestDifference, Math.abs(p - (expected.kcs[kc] ?? NaN)));
    });
  });
  return { logLikelihood: total, largestDifference };
}

interface SkillFigures {
  readonly skill: string;
  readonly classified: number;
  readonly agreeing: number;
}

interface Figures {
  readonly learners: number;
  /** Learners without any answer, who are not replayed. */
  readonly leftOut: number;
  /** Replayed learners with a missing answer. */
  readonly incomplete: number;
  readonly pool: number;
  readonly meanLength: number;
  readonly share: { readonly classified: number; readonly agreeing: number };
  readonly skills: readonly SkillFigures[];
  /** Learners by test length; index 0 means no item. */
  readonly lengths: readonly number[];
  readonly verification?: Verification;
}

function summarize(
  { labels, learners, leftOut }: ReplayedStudy,
  pool: number,
  cut: number,
  replays: readonly Replay[],
): Figures {
  const lengths = Array.from({ length: pool + 1 }, () => 0);
  for (const { length } of replays) lengths[length] = (lengths[length] ?? 0) + 1;
  const skills = labels.map((skill, kc) => {
    const classified = replays.filter(({ classifications }) => classifications[kc] !== 'not_yet');
    const agreeing = classified.filter(({ classifications, full }) => {
      return (classifications[kc] === 'mastered') === (full[kc] ?? NaN) >= cut;
    });
    return { skill, classified: classified.length, agreeing: agreeing.length };
  });
  const classified = skills.reduce((sum, skill) => sum + skill.classified, 0);
  const agreeing = skills.reduce((sum, skill) => sum + skill.agreeing, 0);
  return {
    learners: replays.length,
    leftOut,
    incomplete: learners.slice(0, replays.length).filter(({ answers }) => answers.includes(undefined)).length,
    pool,
    meanLength: replays.reduce((sum, { length }) => sum + length, 0) / replays.length,
    share: { classified: classified / (replays.length * labels.length), agreeing: agreeing / classified },
    skills,
    lengths,
  };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function print(figures: Figures): void {
  const { learners, leftOut, incomplete, pool, meanLength, share, skills, lengths, verification } = figures;
  console.log(`${learners} learners, ${pool} items, ${skills.length} knowledge components`);
  console.log(`left out               ${leftOut} learners, because they answered no item`);
  console.log(
    `missing answers        ${incomplete} learners, who were offered only the items that they answered`,
  );
  console.log(`mean test length       ${meanLength.toFixed(2)} items`);
  console.log(`classified             ${percent(share.classified)} of learners × knowledge components`);
  console.log(`agree with all answers ${percent(share.agreeing)} of the classified`);
  if (verification !== undefined) {
    console.log(`log-likelihood         ${verification.logLikelihood.toFixed(3)}`);
    console.log(
      `against brute force    differs by at most ${verification.largestDifference.toExponential(1)}`,
    );
  }
  console.log('\nclassified  agree    knowledge component');
  for (const { skill, classified, agreeing } of skills) {
    const shares = [percent(classified / learners), percent(agreeing / classified)];
    console.log(`${shares.map((text) => text.padStart(8)).join(' ')}    ${skill}`);
  }
  console.log('\nitems  learners');
  const most = Math.max(...lengths);
  lengths.forEach((count, length) => {
    if (count === 0) return;
    const bar = '#'.repeat(Math.ceil((50 * count) / most));
    console.log(`${String(length).padStart(5)}  ${String(count).padStart(8)}  ${bar}`);
  });
}

async function main(values: ReturnType<typeof command.opts>): Promise<Result<undefined, string>> {
  const files = await readResponseFiles(values.data);
  if (!files.ok) return files;
  const options = await tableOptions(values);
  if (!options.ok) return options;
  const study = replayedStudy(files.value, options.value);
  if (!study.ok) return study;
  const { parameters } = study.value;
  const policy = { kcCutScore: values.cut, confidenceThreshold: values.confidence };
  const compiled = compile(parameters);
  if (!compiled.ok) return compiled;
  const model = compiled.value;
  const learners = study.value.learners.slice(0, values.limit);
  const context = prepare(model, values.target);
  const replays = learners.map((learner) => replay(context, policy, learner));
  const figures = {
    ...summarize(study.value, model.itemIds.length, policy.kcCutScore, replays),
    ...(values.verify === true ? { verification: verify(parameters, learners, replays) } : {}),
  };
  if (values.json === true) console.log(JSON.stringify(figures, undefined, 2));
  else print(figures);
  return ok(undefined);
}

await run(command.action(exits(main)));
