import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod';
import { checkModel } from '#functions/mastery/records/check-model.ts';
import { distinctDefects, pointer, schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import * as analysisPolicies from '#shared/records/check-analysis-policy.ts';
import * as calibrations from '#shared/records/check-calibration.ts';
import * as policies from '#shared/records/check-policy.ts';
import {
  analysisPolicyFile,
  bankFile,
  calibrationFile,
  generatorFile,
  learnersFile,
  policyFile,
  seedFile,
} from './bank-files.ts';
import type { PolicyFile } from './bank-files.ts';
import { checkBank, checkCalibration, checkLearners, checkPolicy, checkReports } from './checks.ts';
import { generateBank } from './generator.ts';
import { recordsOf } from './records.ts';
import { reportsFile } from './reports-file.ts';
import type { BankContent, Seed, SeedBank, SeedDefect } from './seed.ts';
import { openTenant } from './tenant.ts';

export const DEFAULT_SEED_DIRECTORY = join(import.meta.dirname, 'default');

/** Reads and checks a seed directory. The error lists every defect that can be found at once, with file and JSON Pointer. */
export async function loadSeed(directory: string): Promise<Result<Seed, readonly SeedDefect[]>> {
  const wrong = await directoryDefect(directory);
  if (wrong !== undefined) return err([{ file: 'seed.json', pointer: '', message: wrong }]);
  const files = openDirectory(directory);
  const root = await files.read('seed.json', seedFile);
  if (root === undefined) return err(files.defects);
  const banks = await readBanks(files, root.banks);
  const reports = await files.read('reports.json', reportsFile, DEFAULT_SEED_DIRECTORY);
  if (reports !== undefined) files.report('reports.json', checkReports(reports));
  const analysisPolicy = await files.read('analysis-policy.json', analysisPolicyFile, DEFAULT_SEED_DIRECTORY);
  if (files.defects.length > 0 || reports === undefined || analysisPolicy === undefined)
    return err(files.defects);
  const seed = { name: root.name, title: root.title, banks, reports, analysisPolicy };
  checkRelease(files, seed);
  return files.defects.length > 0 ? err(files.defects) : ok(seed);
}

/** Returns what is wrong with a directory that is not a seed at all. */
async function directoryDefect(directory: string): Promise<string | undefined> {
  const found = await stat(directory).catch(absent);
  if (found === undefined) return `not found: there is no directory ${directory}`;
  if (!found.isDirectory()) return `not found: ${directory} is a file, not a directory`;
  const isStudy =
    (await readText(directory, 'seed.json')) === undefined &&
    (await readText(directory, 'responses.csv')) !== undefined;
  return isStudy
    ? `not found in ${directory}, which contains a study: turn it into a seed with npm run seed -- from-responses ${directory} --out SEED`
    : undefined;
}

type Directory = ReturnType<typeof openDirectory>;

/** Reads the files of a seed directory, and collects their defects. */
function openDirectory(directory: string) {
  const defects: SeedDefect[] = [];
  const report = (file: string, found: readonly Defect[]): void => {
    defects.push(...distinctDefects(found).map((defect) => ({ file, ...defect })));
  };
  const has = async (file: string): Promise<boolean> => (await readText(directory, file)) !== undefined;
  /** The checked content; undefined where it has a defect. A file that the directory does not have is that of the other one. */
  async function read<T>(file: string, schema: z.ZodType<T>, otherwise?: string): Promise<T | undefined> {
    const own = await readText(directory, file);
    const text = own ?? (otherwise === undefined ? undefined : await readText(otherwise, file));
    if (text === undefined) {
      report(file, [{ pointer: '', message: `not found in ${directory}` }]);
      return undefined;
    }
    const json = parseStrictJson(text);
    if (!json.ok) {
      report(file, [
        { pointer: pointer(...json.error.path), message: `is not valid JSON (${json.error.kind})` },
      ]);
      return undefined;
    }
    const parsed = schema.safeParse(json.value);
    if (!parsed.success) report(file, schemaDefects(parsed.error));
    return parsed.data;
  }
  return { defects, report, has, read };
}

async function readText(directory: string, file: string): Promise<string | undefined> {
  const text = await readFile(join(directory, file), 'utf8').catch(absent);
  return text?.replace(/^\uFEFF/, '');
}

function absent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

async function readBanks(
  files: Directory,
  entries: z.output<typeof seedFile>['banks'],
): Promise<readonly SeedBank[]> {
  const folders = new Map<string, BankContent | undefined>();
  const banks: SeedBank[] = [];
  for (const [at, { name, directory = name, ...entry }] of entries.entries()) {
    if (entries.findIndex((other) => other.name === name) < at)
      files.report('seed.json', [{ pointer: `/banks/${at}/name`, message: `duplicate bank "${name}"` }]);
    if (!folders.has(directory)) folders.set(directory, await readFolder(files, directory));
    const content = folders.get(directory);
    const policy = await files.read<PolicyFile>(`${directory}/${entry.policy}`, policyFile);
    if (policy === undefined || content === undefined) continue;
    files.report(`${directory}/${entry.policy}`, checkPolicy(policy, content.bank));
    const version = banks[0]?.calibration.anchor.version ?? content.calibration.anchor.version;
    if (content.calibration.anchor.version !== version) {
      const message = `must be the version in ${banks[0]?.directory ?? ''}: a tenant has one anchor table, in one version`;
      files.report(`${directory}/calibration.json`, [{ pointer: '/anchor/version', message }]);
    }
    const alsoReleased = entry.alsoReleased.map((earlier) => {
      const rules = Object.entries({ ...policy.eligibilityRules, ...earlier });
      const eligibilityRules = Object.fromEntries(rules.filter(([, rule]) => rule !== null));
      return policyFile.parse({ ...policy, eligibilityRules });
    });
    banks.push({ name, directory, ...content, policy, alsoReleased });
  }
  return banks;
}

/** A folder contains either a generator's settings, or a bank with its calibration and perhaps learners. */
async function readFolder(files: Directory, folder: string): Promise<BankContent | undefined> {
  if (await files.has(`${folder}/generator.json`)) {
    const settings = await files.read(`${folder}/generator.json`, generatorFile);
    return settings && generateBank(settings);
  }
  const bank = await files.read(`${folder}/bank.json`, bankFile);
  const calibration = await files.read(`${folder}/calibration.json`, calibrationFile);
  const { learners } = (await files.has(`${folder}/learners.json`))
    ? ((await files.read(`${folder}/learners.json`, learnersFile)) ?? {})
    : { learners: [] };
  if (bank === undefined || calibration === undefined || learners === undefined) return undefined;
  files.report(`${folder}/bank.json`, checkBank(bank));
  files.report(`${folder}/calibration.json`, checkCalibration(calibration, bank));
  files.report(`${folder}/learners.json`, checkLearners(learners, bank));
  return { bank, calibration, learners };
}

/**
 * Returns whether the release command would accept the seed's records: what only the whole record or the engine can judge, such
 * as a coverage floor that the item limit cannot reach. The message contains the pointer into the record.
 */
function checkRelease({ report }: Directory, seed: Seed): void {
  const tenant = openTenant(seed, 'tenant-of-the-check');
  const records = recordsOf(tenant);
  const refuse = (file: string, checked: Result<unknown, readonly Defect[]>): void => {
    const found = checked.ok ? [] : checked.error;
    report(
      file,
      found.map(({ pointer, message }) => ({
        pointer: '',
        message: `cannot be released: ${pointer} ${message}`,
      })),
    );
  };
  const policyBanks = [...seed.banks, ...seed.banks.flatMap((bank) => bank.alsoReleased.map(() => bank))];
  for (const [at, { directory, name }] of policyBanks.entries())
    refuse(`${directory}: the policy of "${name}"`, policies.checkPolicy(records.policies[at]));
  for (const [at, { directory }] of tenant.banks.entries()) {
    const checked = calibrations.checkCalibration(records.calibrations[at], checkModel);
    refuse(`${directory}/calibration.json`, checked);
  }
  refuse('analysis-policy.json', analysisPolicies.checkAnalysisPolicy(records.analysisPolicy));
}
