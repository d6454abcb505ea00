import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { NamedTable } from '#tools/terminal/csv.ts';
import { readStudy } from '#tools/terminal/study.ts';
import type { ResponseFiles, StudyParameters } from '#tools/terminal/study.ts';
import { markMadeHere } from './made-here.ts';
import type { SeedFiles } from './made-here.ts';

/**
 * Turns learners' responses, the items' skills and fitted parameters into the files of a seed with one bank, whose policy stops when
 * every skill is classified with a confidence of 0.8. Answers every defect of the inputs, a line each.
 */
export function seedFromResponses(
  files: ResponseFiles,
  given: { readonly name: string | undefined; readonly fallbackName: string },
): Result<SeedFiles, readonly string[]> {
  const study = readStudy(files);
  if (!study.ok) return study;
  const { parameters, responses } = study.value;
  const bankName = given.name ?? slugOf(parameters.name ?? given.fallbackName);
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(bankName)
    ? ok(seedFiles(parameters, responses, bankName))
    : err([`the name "${bankName}" must be 1 to 64 of a-z, 0-9 and -, not beginning with -; see --name`]);
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}

function seedFiles(parameters: StudyParameters, responses: NamedTable, bankName: string): SeedFiles {
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
      kcs: parameters.kcs.map(({ kc, slope, location }) => ({ kc, slope, location })),
      items: parameters.items.map((item) =>
        'probabilities' in item
          ? { item: item.item, probabilities: item.probabilities }
          : { item: item.item, guess: item.guess, slip: item.slip },
      ),
      scale: { name: `${bankName}-scale`, base: 500, perTheta: 100 },
      anchor: { source: 'local-anchor-study', version: '2026', licenseScope: 'local development only' },
      mappingVersion: 'mapping-1',
      numericPrecision: 12,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2036-01-01T00:00:00.000Z',
      recoveryTolerance: 100,
      limitations: [
        `Fitted to ${responses.rows.length} learners; the scale is local and linked to no other.`,
      ],
    },
    [`${bankName}/policy.json`]: {
      kcCutScore: 0.5,
      confidenceThreshold: 0.8,
      // So small that the classifications decide, not the precision.
      precisionTarget: 0.0001,
      maxItems: parameters.items.length,
      timeBudgetSeconds: null,
      coverageFloors: [],
      eligibilityRules: { priorUse: 'avoid', poolMembership: 'manifest' },
    },
    [`${bankName}/learners.json`]: {
      learners: responses.rows.map((row) => ({
        name: row.name,
        answers: Object.fromEntries(responses.columns.map((item, at) => [item, Number(row.cells[at])])),
      })),
    },
  });
}
