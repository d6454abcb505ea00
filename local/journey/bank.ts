import type { StartAdaptiveRunInput } from '#client/index.ts';
import { instantiateSeed, type SeededTenant } from '#local/seeds/instantiate.ts';
import type { BankFixture } from '#shared/stage/description.ts';
import type { Learner } from '#local/seeds/bank-files.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { CalibrationParameters } from '#shared/records/records.ts';
import { testOf } from '../call/example-request.ts';
import { replayedLearner, simulatedLearner, type Respondent } from './learner.ts';
import type { ReportNames } from './report-view.ts';
import type { ItemText } from './view.ts';

/** One bank of the running stack's seed, as one tenant sees it. */
export interface JourneyBank {
  readonly fixture: BankFixture;
  readonly title: string;
  readonly resultsStudentId: string;
  readonly parameters: CalibrationParameters;
  readonly runtimeVersion: string;
  readonly learners: readonly Learner[];
  /** What the knowledge components are called, by CASE GUID, in the order of the bank. */
  readonly labels: ReadonlyMap<string, string>;
  readonly itemNames: Readonly<Record<string, string>>;
  /** What the seed calls an item, by artifact version id. */
  readonly textOf: (artifactVersionId: string) => ItemText;
  readonly reportNames: ReportNames;
}

/** Finds a bank by name, or the seed's first one. */
export function findBank(
  seed: Seed,
  tenantId: string,
  name: string | undefined,
): Result<JourneyBank, string> {
  return bankOf(seed, instantiateSeed(seed, tenantId), name);
}

/** Returns the same for a tenant that is seeded already. */
export function bankOf(
  seed: Seed,
  seeded: SeededTenant,
  name: string | undefined,
): Result<JourneyBank, string> {
  const bank = name === undefined ? seed.banks[0] : seed.banks.find((candidate) => candidate.name === name);
  if (bank === undefined) {
    return err(
      `unknown bank "${name ?? ''}": expected ${seed.banks.map((known) => known.name).join(' or ')}`,
    );
  }
  const fixture = seeded.fixtures.mastery.banks.find((candidate) => candidate.name === bank.name);
  const calibration = seeded.calibrations.find(({ document }) => document.id === fixture?.scaleCalibrationId);
  if (fixture === undefined || calibration === undefined)
    throw new Error('a seed’s bank has fixture and calibration');
  const labels = new Map(fixture.kcGuids.map((guid, at) => [guid, bank.bank.kcs[at]?.label ?? guid]));
  const versions = new Map(
    calibration.parameters.items.map(({ qtiIdentifier, artifactVersionId }) => [
      qtiIdentifier,
      artifactVersionId,
    ]),
  );
  const stems = new Map(bank.bank.items.map((item) => [item.name, item.stem]));
  return ok({
    fixture,
    title: bank.bank.title,
    resultsStudentId: seeded.fixtures.mastery.resultsStudentId,
    parameters: calibration.parameters,
    runtimeVersion: calibration.document.runtimeVersion,
    learners: bank.learners,
    labels,
    itemNames: seeded.itemNames,
    textOf: (artifactVersionId) => {
      const item = seeded.itemNames[artifactVersionId];
      return {
        name: item ?? artifactVersionId,
        stem: (item === undefined ? undefined : stems.get(item)) ?? '',
      };
    },
    reportNames: {
      component: (caseGuid) => labels.get(caseGuid),
      item: (qtiItemId) => seeded.itemNames[versions.get(qtiItemId) ?? ''],
    },
  });
}

/** Returns the learner who takes the test: number `replay` (from 1) of the seed, or one drawn from the calibration. */
export function chooseLearner(
  bank: JourneyBank,
  replay: number | undefined,
  randomSeed: number,
): Result<Respondent, string> {
  if (replay === undefined) return ok(simulatedLearner(bank.parameters, randomSeed));
  if (bank.learners.length === 0) {
    return err(
      `the bank ${bank.fixture.name} has no learners to replay: add learners.json to its seed folder (docs/seeds.md), or omit --learner to simulate a learner`,
    );
  }
  const learner = bank.learners[replay - 1];
  return learner === undefined
    ? err(`--learner ${replay}: the bank ${bank.fixture.name} has learners 1 to ${bank.learners.length}`)
    : ok(replayedLearner(learner.name, learner.answers, bank));
}

export function startRequest(
  { fixture, resultsStudentId }: Pick<JourneyBank, 'fixture' | 'resultsStudentId'>,
  runMode: 'owner_conformance' | 'production_learner',
): StartAdaptiveRunInput {
  return {
    ...testOf(fixture),
    runMode,
    ...(runMode === 'production_learner' ? { resultsStudentId } : {}),
  };
}
