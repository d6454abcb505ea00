import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as z from 'zod';
import { distinctDefects, schemaDefects } from '#shared/kernel/defect.ts';
import type { Defect } from '#shared/kernel/defect.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { checkRelease } from './check-release.ts';
import { generateBank } from './generator.ts';
import { checkReports } from './reports/check.ts';
import { reportsFile } from './reports/file.ts';
import type { ReportsFile } from './reports/file.ts';
import {
  analysisPolicyFile,
  bankFile,
  calibrationFile,
  checkBank,
  checkCalibration,
  checkLearners,
  checkPolicy,
  generatorFile,
  learnersFile,
  policyFile,
  seedFile,
} from './seed.ts';
import type { BankContent, PolicyFile, Seed, SeedBank, SeedDefect } from './seed.ts';

/** The built-in seed. */
export const DEFAULT_SEED_DIRECTORY = join(import.meta.dirname, 'default');

/** Reads and checks a seed directory. The error lists every defect that can be found at once, with file and JSON Pointer. */
export async function loadSeed(directory: string): Promise<Result<Seed, readonly SeedDefect[]>> {
  const wrong = await directoryDefect(directory);
  if (wrong !== undefined) return err([{ file: 'seed.json', pointer: '', message: wrong }]);
  const root = await readJson(directory, 'seed.json', seedFile);
  if (!root.ok) return root;
  const defects: SeedDefect[] = [];
  const contents = new Map<string, BankContent | undefined>();
  const banks: SeedBank[] = [];
  const names = new Set<string>();
  for (const [at, entry] of root.value.banks.entries()) {
    if (names.has(entry.name)) {
      defects.push({
        file: 'seed.json',
        pointer: `/banks/${at}/name`,
        message: `duplicate bank "${entry.name}"`,
      });
    }
    names.add(entry.name);
    const folder = entry.directory ?? entry.name;
    if (!contents.has(folder)) {
      const loaded = await loadContent(directory, folder);
      if (!loaded.ok) defects.push(...loaded.error);
      contents.set(folder, loaded.ok ? loaded.value : undefined);
    }
    const content = contents.get(folder);
    const read = await readJson<PolicyFile>(directory, `${folder}/${entry.policy}`, policyFile);
    if (!read.ok) defects.push(...read.error);
    if (!read.ok || content === undefined) continue;
    const policy = read.value;
    defects.push(...located(`${folder}/${entry.policy}`, checkPolicy(policy, content.bank)));
    const alsoReleased = entry.alsoReleased.map((earlier) => {
      const rules = Object.entries({ ...policy.eligibilityRules, ...earlier });
      const eligibilityRules = Object.fromEntries(rules.filter(([, rule]) => rule !== null));
      return policyFile.parse({ ...policy, eligibilityRules });
    });
    const [first] = banks;
    if (first !== undefined && first.calibration.anchor.version !== content.calibration.anchor.version) {
      defects.push({
        file: `${folder}/calibration.json`,
        pointer: '/anchor/version',
        message: `must be the version in ${first.directory}: a tenant has one anchor table, in one version`,
      });
    }
    banks.push({ name: entry.name, directory: folder, ...content, policy, alsoReleased });
  }
  const reports = await loadReports(directory);
  if (!reports.ok) defects.push(...reports.error);
  const analysisPolicy = await readOwnOrBuiltIn(directory, 'analysis-policy.json', analysisPolicyFile);
  if (!analysisPolicy.ok) defects.push(...analysisPolicy.error);
  if (defects.length > 0 || !reports.ok || !analysisPolicy.ok) return err(defects);
  const seed = {
    name: root.value.name,
    title: root.value.title,
    banks,
    reports: reports.value,
    analysisPolicy: analysisPolicy.value,
  };
  const refused = checkRelease(seed);
  return refused.length > 0 ? err(refused) : ok(seed);
}

async function loadReports(directory: string): Promise<Result<ReportsFile, readonly SeedDefect[]>> {
  const file = 'reports.json';
  const read = await readOwnOrBuiltIn<ReportsFile>(directory, file, reportsFile);
  if (!read.ok) return read;
  const defects = checkReports(read.value);
  return defects.length === 0 ? read : err(located(file, defects));
}

/** The directory's own file, or that of the built-in seed. */
async function readOwnOrBuiltIn<T>(
  directory: string,
  file: string,
  schema: z.ZodType<T>,
): Promise<Result<T, readonly SeedDefect[]>> {
  const isOwn = (await readText(directory, file)) !== undefined;
  return readJson(isOwn ? directory : DEFAULT_SEED_DIRECTORY, file, schema);
}

/** What is wrong with a directory that is not a seed at all. */
async function directoryDefect(directory: string): Promise<string | undefined> {
  const found = await stat(directory).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (found === undefined) return `not found: there is no directory ${directory}`;
  if (!found.isDirectory()) return `not found: ${directory} is a file, not a directory`;
  if ((await readText(directory, 'seed.json')) !== undefined) return undefined;
  return (await readText(directory, 'responses.csv')) === undefined
    ? undefined
    : `not found in ${directory}, which contains a study: turn it into a seed with npm run seed -- from-responses ${directory} --out SEED`;
}

/** A folder holds either a generator's settings, or a bank with its calibration and perhaps learners. */
async function loadContent(
  directory: string,
  folder: string,
): Promise<Result<BankContent, readonly SeedDefect[]>> {
  if ((await readText(directory, `${folder}/generator.json`)) !== undefined) {
    const generator = await readJson(directory, `${folder}/generator.json`, generatorFile);
    return generator.ok ? ok(generateBank(generator.value)) : generator;
  }
  const [bank, calibration] = await Promise.all([
    readJson(directory, `${folder}/bank.json`, bankFile),
    readJson(directory, `${folder}/calibration.json`, calibrationFile),
  ]);
  const hasLearners = (await readText(directory, `${folder}/learners.json`)) !== undefined;
  const learners = hasLearners
    ? await readJson(directory, `${folder}/learners.json`, learnersFile)
    : ok({ learners: [] });
  if (!bank.ok || !calibration.ok || !learners.ok) {
    return err([bank, calibration, learners].flatMap((read) => (read.ok ? [] : read.error)));
  }
  const content = { bank: bank.value, calibration: calibration.value, learners: learners.value.learners };
  const defects = [
    ...located(`${folder}/bank.json`, checkBank(content.bank)),
    ...located(`${folder}/calibration.json`, checkCalibration(content.calibration, content.bank)),
    ...located(`${folder}/learners.json`, checkLearners(content.learners, content.bank)),
  ];
  return defects.length === 0 ? ok(content) : err(defects);
}

async function readJson<T>(
  directory: string,
  file: string,
  schema: z.ZodType<T>,
): Promise<Result<T, readonly SeedDefect[]>> {
  const text = await readText(directory, file);
  if (text === undefined) return err([{ file, pointer: '', message: `not found in ${directory}` }]);
  const json = parseStrictJson(text);
  if (!json.ok) {
    const place = json.error.kind === 'duplicate-key' ? json.error.pointer : '';
    return err([{ file, pointer: place, message: `is not valid JSON (${json.error.kind})` }]);
  }
  const parsed = schema.safeParse(json.value);
  return parsed.success ? ok(parsed.data) : err(located(file, schemaDefects(parsed.error)));
}

async function readText(directory: string, file: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(directory, file), 'utf8');
    return text.replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function located(file: string, findings: readonly Defect[]): readonly SeedDefect[] {
  return distinctDefects(findings).map((finding) => ({ file, ...finding }));
}
