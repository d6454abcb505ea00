import { err, ok, type Result } from '#shared/kernel/result.ts';
import { readStudy, type ResponseFiles, type Study } from '#tools/terminal/study.ts';
import type { TableOptions } from '#tools/terminal/study/options.ts';
import { MISSING } from '#tools/terminal/study/values.ts';
import { localCalibration } from './bank-files.ts';
import { markMadeHere, type SeedFiles } from './made-here.ts';

/** The files of a seed, and what its author should know of the learners. */
export interface StudySeed {
  readonly files: SeedFiles;
  /** Learners without any answer, who are not part of the seed. */
  readonly leftOut: number;
  /** Numbers, from 1, of the learners who answered every item. */
  readonly complete: readonly number[];
}

/**
 * Turns learners' answers, the items' knowledge components and fitted parameters into the files of a seed with one bank, whose policy stops
 * when every component is classified with a confidence of 0.8. The error has one line per defect.
 */
export function seedFromResponses(
  files: ResponseFiles,
  given: { readonly name: string | undefined; readonly fallbackName: string },
  options?: TableOptions,
): Result<StudySeed, readonly string[]> {
  const study = readStudy(files, options);
  if (!study.ok) return study;
  const { parameters, learners, leftOut } = study.value;
  const bankName = given.name ?? slugOf(parameters.name ?? given.fallbackName);
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(bankName)
    ? ok({
        files: seedFiles(study.value, bankName),
        leftOut,
        complete: learners.flatMap(({ answers }, n) => (answers.includes(MISSING) ? [] : [n + 1])),
      })
    : err([
        `"${bankName}" cannot name a bank: use 1 to 64 of a-z, 0-9 and -, not starting with - (--name NAME)`,
      ]);
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}

/** Up to this many items the credit for unmeasured components gains nothing: the bank runs out (docs/records.md). */
const SMALL_BANK = 60;

function seedFiles({ parameters, items, learners }: Study, bankName: string): SeedFiles {
  const title = parameters.title ?? parameters.name ?? bankName;
  return markMadeHere({
    'seed.json': { name: bankName, title, banks: [{ name: bankName }] },
    [`${bankName}/bank.json`]: {
      title,
      subject: parameters.subject ?? 'general',
      grades: parameters.grades ?? ['Other'],
      framework: `${title}: competency framework`,
      standards: [{ name: bankName, statement: `Solve the tasks of ${title}` }],
      kcs: parameters.kcs.map((kc) => ({ name: kc.kc, label: kc.label ?? kc.kc })),
      items: parameters.items.map((item) => ({
        name: item.item,
        stem: item.stem ?? item.item,
        kcs: item.kcs,
        standards: [bankName],
      })),
    },
    [`${bankName}/calibration.json`]: {
      theta: parameters.theta,
      kcs: parameters.kcs.map(({ kc, slope, location }) =>
        slope === undefined || location === undefined ? { kc } : { kc, slope, location },
      ),
      ...(parameters.blocks === undefined ? {} : { blocks: parameters.blocks }),
      items: parameters.items.map((item) =>
        'probabilities' in item
          ? { item: item.item, probabilities: item.probabilities }
          : { item: item.item, guess: item.guess, slip: item.slip },
      ),
      scale: { name: `${bankName}-scale`, base: 500, perTheta: 100 },
      ...localCalibration,
      limitations: [`Fitted to ${learners.length} learners; the scale is local and not linked to any other.`],
    },
    [`${bankName}/policy.json`]: {
      kcCutScore: 0.5,
      confidenceThreshold: 0.8,
      // So small that the classifications decide, not the precision.
      precisionTarget: 0.0001,
      maxItems: parameters.items.length,
      timeBudgetSeconds: null,
      coverageFloors: [],
      eligibilityRules: {
        exposure: { method: 'randomesque', size: 2 },
        priorUse: 'avoid',
        ...(parameters.items.length > SMALL_BANK
          ? { selectionTarget: 'unsettled_and_unmeasured', unmeasuredCredit: 0.1 }
          : { selectionTarget: 'unsettled_components' }),
        minimumDecisionGain: 0.01,
        poolMembership: 'manifest',
      },
    },
    [`${bankName}/learners.json`]: {
      learners: learners.map(({ name, answers }) => ({
        name,
        answers: Object.fromEntries(
          items.flatMap((item, j) => (answers[j] === MISSING ? [] : [[item, answers[j]]])),
        ),
      })),
    },
  });
}
