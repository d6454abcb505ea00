import { once } from '#local/platform/store.ts';
import type { ReportsSeed, TenantSeed } from '#local/platform/tenant-state.ts';
import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { Manifest, ManifestMember } from '#shared/platform/owners/bank.ts';
import type { BankFile } from './bank-files.ts';
import { bankIds, opaque, qtiIdentifier, reportIds, type BankIds, type ReportIds } from './ids.ts';
import { competenciesOf, type Competency, type ReportsFile, type SpecEntry } from './reports-file.ts';
import type { Seed, SeedBank } from './seed.ts';

/** A seed with the ids of one tenant: what each owner's entities are made of. No id of one tenant occurs in another. */
export interface Tenant {
  readonly tenantId: string;
  readonly seed: Seed;
  readonly file: ReportsFile;
  readonly ids: ReportIds;
  /** One for each folder of the seed. */
  readonly banks: readonly TenantBank[];
  /** Those of the banks, then those of `reports.json`. */
  readonly specs: readonly Spec[];
  /** By the names of `reports.json`. */
  readonly specOf: (name: string) => FileSpec;
  readonly specOfForm: (form: string) => FileSpec;
  /** A version that follows from the content, as all ids of what is immutable. */
  readonly version: (kind: string, content: unknown) => string;
}

type Lists = TenantSeed & Omit<ReportsSeed, 'generated'>;
type Generated = ReportsSeed['generated'];

/** What an owner holds from the start, and what is made when it is first asked for. */
export type Entities<Written extends keyof Lists, OnDemand extends keyof Generated> = Pick<Lists, Written> & {
  readonly generated: Pick<Generated, OnDemand>;
};

/** A framework that CASE publishes. */
export interface Framework {
  readonly guid: string;
  readonly title: string;
  readonly changedAt: string;
  readonly educationLevel: readonly string[];
  /** Whether it is made when it is first asked for. */
  readonly isGenerated: boolean;
  readonly items: () => readonly FrameworkItem[];
  /** Pairs of GUIDs: the first is taught before the second. */
  readonly precedes: readonly (readonly [before: string, after: string])[];
}

/** One of its competencies; `parent` is a GUID. */
type FrameworkItem = Competency & { readonly guid: string };

/** A test spec that reports are about. */
export interface Spec {
  readonly entry: Omit<SpecEntry, 'name' | 'framework' | 'forms' | 'alignment'>;
  readonly framework: Framework;
  readonly ref: { readonly contentTestSpecId: string; readonly contentTestSpecVersion: string };
  readonly crosswalks: { readonly crosswalkSetId: string; readonly version: string };
  readonly forms: readonly { readonly qtiTestId: string; readonly version: string }[];
  readonly slotId: (slot: string) => string;
}

/** One of `reports.json`. */
export interface FileSpec extends Spec {
  readonly entry: SpecEntry;
  readonly competencies: readonly Competency[];
  readonly guidOf: (code: string) => string;
}

/** One folder of the seed. */
export interface TenantBank {
  readonly content: SeedBank;
  readonly directory: string;
  readonly ids: BankIds;
  readonly spec: Spec;
  readonly version: string;
  readonly testBankId: string;
  readonly operationId: string;
  readonly root: NonNullable<Manifest['root']>;
  /** The bank's items in their order, each with its manifest entry. */
  readonly members: readonly { readonly item: BankFile['items'][number]; readonly member: ManifestMember }[];
}

export function openTenant(seed: Seed, tenantId: string): Tenant {
  const { reports: file } = seed;
  const ids = reportIds(file, tenantId);
  const version: Tenant['version'] = (kind, content) =>
    opaque(`${kind}-version`, tenantId, hashCanonical(content));
  const folders = new Map(seed.banks.toReversed().map((bank) => [bank.directory, bank]));
  const banks = [...new Set(seed.banks.map(({ directory }) => directory))].map((directory) =>
    bankOf(defined(folders.get(directory)), tenantId),
  );
  const frameworks = new Map(file.frameworks.map((entry) => [entry.name, frameworkOf(entry, tenantId)]));
  const specs = new Map(
    file.testSpecs.map((entry): [string, FileSpec] => [
      entry.name,
      {
        entry,
        ...defined(frameworks.get(entry.framework)),
        ref: {
          contentTestSpecId: ids.testSpec(entry.name),
          contentTestSpecVersion: version('spec', entry),
        },
        crosswalks: {
          crosswalkSetId: opaque(`crosswalks-${entry.name}`, tenantId),
          version: version('crosswalks', entry.crosswalks),
        },
        forms: entry.forms.map((form) => ({
          qtiTestId: ids.form(form),
          version: version('form', { form, spec: entry }),
        })),
        slotId: (slot) => opaque(`slot-${slot}`, tenantId, entry.name),
      },
    ]),
  );
  const specNames = new Map(file.testSpecs.flatMap(({ name, forms }) => forms.map((form) => [form, name])));
  const specOf = (name: string): FileSpec => defined(specs.get(name));
  return {
    tenantId,
    seed,
    file,
    ids,
    banks,
    specs: [...banks.map(({ spec }) => spec), ...specs.values()],
    specOf,
    specOfForm: (form) => specOf(defined(specNames.get(form))),
    version,
  };
}

/** Resolves a name of a loaded seed: names have been checked when the seed was loaded. */
export function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a loaded seed names nothing that it lacks');
  return value;
}

function frameworkOf(
  entry: ReportsFile['frameworks'][number],
  tenantId: string,
): Pick<FileSpec, 'framework' | 'competencies' | 'guidOf'> {
  const { name, title, changedAt, generated, precedes } = entry;
  const competencies = competenciesOf(entry);
  const guids = new Map<string, string>();
  const guidOf = (code: string): string => {
    const guid = guids.get(code) ?? deterministicUuid('case-competency', tenantId, 'reports', name, code);
    guids.set(code, guid);
    return guid;
  };
  return {
    competencies,
    guidOf,
    framework: {
      guid: deterministicUuid('case-framework', tenantId, 'reports', name),
      title,
      changedAt,
      educationLevel: [],
      isGenerated: generated !== undefined,
      precedes: precedes.map(([before, after]) => [guidOf(before), guidOf(after)] as const),
      items: once(() =>
        competencies.map((one) => ({
          ...one,
          guid: guidOf(one.code),
          parent: one.parent === undefined ? undefined : guidOf(one.parent),
        })),
      ),
    },
  };
}

function bankOf(content: SeedBank, tenantId: string): TenantBank {
  const { bank, directory } = content;
  const ids = bankIds(directory, tenantId);
  const version = hashCanonical(bank);
  const testSpecId = opaque(`spec-${directory}`, tenantId);
  const testSpecVersion = opaque('blueprint', tenantId, directory, version);
  const root = {
    packageId: opaque(`package-${directory}`, tenantId, version),
    packageHash: hashCanonical({ tenantId, directory, bank }),
    artifactId: opaque(`pool-${directory}`, tenantId),
    artifactVersionId: opaque(`pool-version-${directory}`, tenantId, version),
    qtiIdentifier: qtiIdentifier(`pool-${directory}`, tenantId, directory),
  };
  return {
    content,
    directory,
    ids,
    version,
    testBankId: opaque(`bank-${directory}`, tenantId),
    operationId: opaque(`operation-${directory}`, tenantId, version),
    root,
    members: bank.items.map((item) => ({
      item,
      member: {
        artifactId: deterministicUuid('qti-artifact', tenantId, directory, item.name),
        artifactVersionId: deterministicUuid(
          'qti-artifact-version',
          tenantId,
          directory,
          hashCanonical(item),
        ),
        qtiIdentifier: ids.item(item.name),
        caseGuids: item.standards.map(ids.standard).sort(),
        kcGuids: item.kcs.map(ids.kc).sort(),
      },
    })),
    spec: {
      entry: {
        testKind: 'adaptive_diagnostic',
        criteria: null,
        qualifyingCoverage: false,
        externalNorms: null,
        freshness: 'current',
        crosswalks: [],
      },
      framework: {
        guid: deterministicUuid('case-framework', tenantId, directory),
        title: bank.framework,
        changedAt: '2026-01-01T00:00:00.000Z',
        educationLevel: bank.grades,
        isGenerated: false,
        precedes: [],
        items: once(() => bankCompetencies(bank, ids)),
      },
      ref: { contentTestSpecId: testSpecId, contentTestSpecVersion: testSpecVersion },
      crosswalks: {
        crosswalkSetId: opaque('crosswalks', tenantId, testSpecId),
        version: opaque('crosswalks-version', tenantId, testSpecVersion),
      },
      forms: [{ qtiTestId: root.artifactId, version: opaque('form-version', tenantId, testSpecVersion) }],
      slotId: (slot) => opaque(`slot-${slot}`, tenantId, directory),
    },
  };
}

/** Returns the bank's standards, and its components as children of the standard that most of their items carry. */
function bankCompetencies(bank: BankFile, ids: BankIds): readonly FrameworkItem[] {
  return [
    ...bank.standards.map(({ name, statement }): FrameworkItem => ({
      guid: ids.standard(name),
      code: name,
      kind: 'standard',
      statement,
      parent: undefined,
    })),
    ...bank.kcs.map(({ name, label }): FrameworkItem => ({
      guid: ids.kc(name),
      code: name,
      kind: 'knowledge_component',
      statement: label,
      parent: parentOf(bank, name, ids),
    })),
  ];
}

/** Returns the standard of most items of a component, the first in the bank of several; undefined for a component without any item. */
function parentOf(bank: BankFile, kc: string, ids: BankIds): string | undefined {
  const carried = bank.items.filter(({ kcs }) => kcs.includes(kc)).flatMap(({ standards }) => standards);
  const count = (standard: string): number => carried.filter((name) => name === standard).length;
  const [parent] = bank.standards
    .filter(({ name }) => count(name) > 0)
    .sort((a, b) => count(b.name) - count(a.name));
  return parent === undefined ? undefined : ids.standard(parent.name);
}
