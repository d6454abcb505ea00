/**
 * Lets real learners sit the adaptive run: every answer the engine asks for is looked up in a table of complete responses, and what the
 * run says in the end is compared with what all answers together say.
 */
import {
  classify,
  compileModel,
  estimate,
  prepareSelection,
  remainingUncertainty,
  scoredItemsPerKc,
  selectItem,
  stopReason,
} from '#functions/mastery/engine/index.ts';
import type {
  Classification,
  CompiledModel,
  ModelParameters,
  Outcome,
} from '#functions/mastery/engine/index.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { referencePosterior } from '#psychometrics/reference/higher-order-cdm.ts';
import { readResponseFiles, readStudy, shorten } from '#tools/terminal/study.ts';
import type { ResponseFiles } from '#tools/terminal/study.ts';
import { decimal, examples, exits, integer, program, run, text } from '#tools/terminal/command.ts';

const share = decimal('from 0 to 1', (n) => n >= 0 && n <= 1);
const command = program(
  'npm run replay --',
  'Replays every learner of a response table adaptively and compares the runs with the learners’ complete answers.\n' +
    'DIR holds responses.csv, q-matrix.csv and parameters.json, as for npm run seed.',
)
  .requiredOption('--data <DIR>', 'the study to replay (required)', text)
  .option('--confidence <P>', 'confidence threshold of the classification', share, 0.8)
  .option('--cut <P>', 'mastery cut on the posterior', share, 0.5)
  .option('--limit <N>', 'only the first N learners', integer(1, 1_000_000))
  .option('--verify', 'also checks every final posterior against brute force and prints the log-likelihood')
  .option('--json', 'the figures as one JSON document')
  .addHelpText('after', examples('npm run replay -- --data ../fraction-subtraction --confidence 0.9'));

const PRECISION = 12;

interface Learner {
  readonly id: string;
  readonly answers: readonly boolean[];
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
  readonly parameters: ModelParameters;
  /** Of the skills, in the order of the parameters. */
  readonly labels: readonly string[];
  readonly learners: readonly Learner[];
}

/** A study in the engine's terms. The scale is 500 + 100 theta. */
function replayedStudy(files: ResponseFiles): Result<ReplayedStudy, string> {
  const study = readStudy(files);
  if (!study.ok) return err(shorten(study.error));
  const { parameters, responses } = study.value;
  const { theta, kcs, items } = parameters;
  const { nodes, min, max } = theta;
  const columns = new Map(responses.columns.map((item, at) => [item, at]));
  return ok({
    parameters: {
      theta,
      kcs: kcs.map(({ kc, slope, location }) => ({ guid: kc, slope, location })),
      items: items.map((item) => ({
        id: item.item,
        kcs: item.kcs,
        probabilities: successTable(item, item.kcs.length),
      })),
      scale: Array.from({ length: nodes }, (_, g) => 500 + 100 * (min + ((max - min) * g) / (nodes - 1))),
    },
    labels: kcs.map(({ kc, label = kc }) => (label === kc ? kc : `${kc}: ${label}`)),
    learners: responses.rows.map((row) => ({
      id: row.name,
      answers: items.map(({ item }) => row.cells[columns.get(item) ?? -1] === '1'),
    })),
  });
}

/** The table that an item gives, or that of DINA: guess everywhere but where all its skills are mastered. */
function successTable(
  item: { readonly probabilities: readonly number[] } | { readonly guess: number; readonly slip: number },
  skills: number,
): readonly number[] {
  if ('probabilities' in item) return item.probabilities;
  const size = 2 ** skills;
  return Array.from({ length: size }, (_, s) => (s === size - 1 ? 1 - item.slip : item.guess));
}

function compile(parameters: ModelParameters): CompiledModel {
  const model = compileModel(parameters);
  if (!model.ok)
    throw new Error(model.error.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'));
  return model.value;
}

/** One run: until every KC is classified or no item is left. */
function replay(model: CompiledModel, policy: Policy, learner: Learner, context: Context): Replay {
  const outcomes: Outcome[] = [];
  const rule = { ...policy, numericPrecision: PRECISION };
  for (;;) {
    const posterior = estimate(model, outcomes);
    const used = outcomes.map(({ item }) => item);
    const evidence = scoredItemsPerKc(model.itemKcs, model.kcGuids.length, used);
    const classifications = [...posterior.kcPosteriors].map((p, kc) => classify(rule, p, evidence[kc] ?? 0));
    const selection = selectItem(context.selection, posterior, {
      used,
      runSeed: sha256Hex(learner.id),
      sequence: used.length + 1,
    });
    const stopped = stopReason({
      classifications,
      remainingUncertainty: remainingUncertainty(model, posterior, context.scope),
      // Only complete classifications or the end of the pool stop these runs.
      precisionTarget: 0,
      numericPrecision: PRECISION,
      coverage: [],
      itemsOffered: used.length,
      maxItems: model.itemIds.length,
      poolExhausted: selection.kind === 'exhausted',
      elapsedMilliseconds: 0,
      timeBudgetSeconds: null,
    });
    if (stopped !== undefined || selection.kind === 'exhausted') {
      const all = learner.answers.map((correct, item) => ({ item, correct }));
      return { length: used.length, classifications, full: [...estimate(model, all).kcPosteriors] };
    }
    outcomes.push({ item: selection.item, correct: learner.answers[selection.item] === true });
  }
}

interface Context {
  readonly selection: ReturnType<typeof prepareSelection>;
  readonly scope: readonly number[];
}

function prepare(model: CompiledModel): Context {
  const scope = model.kcGuids.map((_, kc) => kc);
  const pool = model.itemIds.map((id, item) => ({
    item,
    artifactVersionId: id,
    qtiIdentifier: id,
    tags: (model.itemKcs[item] ?? []).map((kc) => model.kcGuids[kc] ?? ''),
    accessibility: [],
  }));
  return {
    scope,
    selection: prepareSelection(model, pool, {
      scope,
      maxItems: pool.length,
      requiredAccessibility: [],
      enemySets: [],
      excludedItems: [],
      minima: [],
      maxima: [],
    }),
  };
}

interface Verification {
  readonly logLikelihood: number;
  readonly largestDifference: number;
}

/** Every learner's posterior from all answers, once by the engine and once by enumeration. */
function verify(
  parameters: ModelParameters,
  learners: readonly Learner[],
  replays: readonly Replay[],
): Verification {
  const index = new Map(parameters.kcs.map(({ guid }, k) => [guid, k]));
  const reference = {
    ...parameters.theta,
    kcs: parameters.kcs,
    items: parameters.items.map(({ kcs, probabilities }) => ({
      kcs: kcs.map((guid) => index.get(guid) ?? -1),
      success: probabilities,
    })),
    scale: parameters.scale,
  };
  let total = 0;
  let largestDifference = 0;
  learners.forEach(({ answers }, n) => {
    const expected = referencePosterior(
      reference,
      answers.map((correct, item) => ({ item, correct })),
    );
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
  readonly pool: number;
  readonly meanLength: number;
  readonly share: { readonly classified: number; readonly agreeing: number };
  readonly skills: readonly SkillFigures[];
  /** Learners by test length, index 0 = no item. */
  readonly lengths: readonly number[];
  readonly verification?: Verification;
}

function summarize(
  labels: readonly string[],
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
  const { learners, pool, meanLength, share, skills, lengths, verification } = figures;
  console.log(`${learners} learners, ${pool} items, ${skills.length} skills`);
  console.log(`mean test length       ${meanLength.toFixed(2)} items`);
  console.log(`classified             ${percent(share.classified)} of learners x skills`);
  console.log(`agree with all answers ${percent(share.agreeing)} of the classified`);
  if (verification !== undefined) {
    console.log(`log-likelihood         ${verification.logLikelihood.toFixed(3)}`);
    console.log(`against brute force    ${verification.largestDifference.toExponential(1)} at most`);
  }
  console.log('\nclassified  agree    skill');
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
  const study = replayedStudy(files.value);
  if (!study.ok) return study;
  const { parameters, labels } = study.value;
  const policy = { kcCutScore: values.cut, confidenceThreshold: values.confidence };
  const model = compile(parameters);
  const learners = study.value.learners.slice(0, values.limit);
  const context = prepare(model);
  const replays = learners.map((learner) => replay(model, policy, learner, context));
  const figures = {
    ...summarize(labels, model.itemIds.length, policy.kcCutScore, replays),
    ...(values.verify === true ? { verification: verify(parameters, learners, replays) } : {}),
  };
  if (values.json === true) console.log(JSON.stringify(figures, undefined, 2));
  else print(figures);
  return ok(undefined);
}

await run(command.action(exits(main)));
