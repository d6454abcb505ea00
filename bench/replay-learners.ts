/**
 * Lets real learners sit the adaptive run: every answer the engine asks for is looked up in a table of complete responses, and what the
 * run says in the end is compared with what all answers together say.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
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
import { referencePosterior } from '#test/reference/higher-order-cdm.ts';
import * as z from 'zod';

const USAGE = `Usage: node bench/replay-learners.ts [--data DIR] [--confidence P] [--cut P] [--limit N] [--json]

Replays every learner of a response table adaptively and compares the run with the learner's complete answers.

  --data DIR       folder with responses.csv and parameters.json (default: ../shared/data/fraction-subtraction, seen from the
                   repository)
  --confidence P   confidence threshold of the classification, 0.8 unless told
  --cut P          mastery cut on the posterior, 0.5 unless told
  --limit N        only the first N learners
  --verify         also checks every final posterior against brute force (a minute or so) and prints the table's log-likelihood
  --json           the figures as one JSON document
  --help           this text
`;

const PRECISION = 12;

const fileSchema = z.object({
  theta: z.object({ nodes: z.int(), min: z.number(), max: z.number(), mean: z.number(), sd: z.number() }),
  kcs: z.array(
    z.object({ kc: z.string(), slope: z.number(), location: z.number(), label: z.string().optional() }),
  ),
  items: z.array(
    z.object({ item: z.string(), kcs: z.array(z.string()), guess: z.number(), slip: z.number() }),
  ),
});

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

/** Guess everywhere but where all KCs are mastered: the DINA table. The scale is 500 + 100 theta. */
function readParameters(path: string): { parameters: ModelParameters; labels: readonly string[] } {
  const file = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const { nodes, min, max } = file.theta;
  return {
    parameters: {
      theta: file.theta,
      kcs: file.kcs.map(({ kc, slope, location }) => ({ guid: kc, slope, location })),
      items: file.items.map(({ item, kcs, guess, slip }) => {
        const size = 2 ** kcs.length;
        return {
          id: item,
          kcs,
          probabilities: Array.from({ length: size }, (_, s) => (s === size - 1 ? 1 - slip : guess)),
        };
      }),
      scale: Array.from({ length: nodes }, (_, g) => 500 + 100 * (min + ((max - min) * g) / (nodes - 1))),
    },
    labels: file.kcs.map(({ kc, label }) => (label === undefined ? kc : `${kc}: ${label}`)),
  };
}

/** Rows of 0 and 1 under item names; the first column names the learner. */
function readResponses(path: string, itemIds: readonly string[]): Learner[] {
  const [header = '', ...rows] = readFileSync(path, 'utf8').trim().split(/\r?\n/);
  const columns = header.split(',');
  const at = itemIds.map((id) => columns.indexOf(id));
  if (at.includes(-1)) throw new Error(`${path} has no column ${itemIds[at.indexOf(-1)] ?? ''}`);
  return rows.map((row) => {
    const cells = row.split(',');
    return { id: cells[0] ?? '', answers: at.map((column) => cells[column] === '1') };
  });
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
      alreadyMet: [],
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
      randomesqueSize: 1,
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

function main(): number {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      confidence: { type: 'string', default: '0.8' },
      cut: { type: 'string', default: '0.5' },
      limit: { type: 'string' },
      verify: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const root = dirname(import.meta.dirname);
  const folder = resolve(values.data ?? join(root, '..', 'shared', 'data', 'fraction-subtraction'));
  const files = ['parameters.json', 'responses.csv'].map((name) => join(folder, name));
  const absent = files.filter((file) => !existsSync(file));
  const [parametersFile, responsesFile] = files;
  if (absent.length > 0 || parametersFile === undefined || responsesFile === undefined) {
    console.error(`Not found: ${absent.join(', ')}`);
    console.error('Name the folder that holds parameters.json and responses.csv with --data DIR.');
    return 2;
  }
  const policy = { kcCutScore: Number(values.cut), confidenceThreshold: Number(values.confidence) };
  const limit = values.limit === undefined ? Infinity : Number(values.limit);
  if ([policy.kcCutScore, policy.confidenceThreshold].some((p) => !(p >= 0 && p <= 1)) || !(limit >= 1)) {
    console.error('--confidence and --cut take a probability, --limit a number of learners.');
    return 2;
  }
  const { parameters, labels } = readParameters(parametersFile);
  const model = compile(parameters);
  const learners = readResponses(responsesFile, model.itemIds).slice(0, limit);
  const context = prepare(model);
  const replays = learners.map((learner) => replay(model, policy, learner, context));
  const figures = {
    ...summarize(labels, model.itemIds.length, policy.kcCutScore, replays),
    ...(values.verify ? { verification: verify(parameters, learners, replays) } : {}),
  };
  if (values.json) console.log(JSON.stringify(figures, undefined, 2));
  else print(figures);
  return 0;
}

process.exitCode = main();
