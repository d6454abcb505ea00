import { checkModel } from '#functions/mastery/records/check-model.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { checkAnalysisPolicy } from '#shared/records/check-analysis-policy.ts';
import { checkCalibration } from '#shared/records/check-calibration.ts';
import { checkPolicy } from '#shared/records/check-policy.ts';
import { instantiateSeed } from './instantiate.ts';
import type { Seed, SeedDefect } from './seed.ts';

/**
 * Whether the release command would accept the seed's records: what only the whole record or the engine can judge, such
 * as a coverage floor that the item limit cannot reach. The message contains the pointer into the record.
 */
export function checkRelease(seed: Seed): readonly SeedDefect[] {
  const seeded = instantiateSeed(seed, 'tenant-of-the-check');
  const analysisPolicy = checkAnalysisPolicy(seeded.analysisPolicy);
  const policyBanks = [...seed.banks, ...seed.banks.flatMap((bank) => bank.alsoReleased.map(() => bank))];
  const directories = [...new Set(seed.banks.map((bank) => bank.directory))];
  return [
    ...policyBanks.flatMap((bank, at) => {
      const checked = checkPolicy(seeded.policies[at]);
      return checked.ok ? [] : refusals(`${bank.directory}: the policy of "${bank.name}"`, checked.error);
    }),
    ...directories.flatMap((directory, at) => {
      const checked = checkCalibration(seeded.calibrations[at], checkModel);
      return checked.ok ? [] : refusals(`${directory}/calibration.json`, checked.error);
    }),
    ...(analysisPolicy.ok ? [] : refusals('analysis-policy.json', analysisPolicy.error)),
  ];
}

function refusals(file: string, defects: readonly Defect[]): readonly SeedDefect[] {
  return defects.map((defect) => ({
    file,
    pointer: '',
    message: `cannot be released: ${defect.pointer} ${defect.message}`,
  }));
}
