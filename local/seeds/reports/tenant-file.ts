import { hashCanonical } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { once } from '#local/platform/store.ts';
import type { cfPackageOf } from '../case-framework.ts';
import { opaque } from '../ids.ts';
import { competenciesOf } from './file.ts';
import type { FrameworkEntry, ReportsFile } from './file.ts';

/** The ids that the names of `reports.json` turn into, for one tenant. No id of one tenant occurs in another. */
export interface ReportIds {
  readonly school: (name: string) => string;
  readonly class: (name: string) => string;
  readonly student: (name: string) => string;
  readonly form: (name: string) => string;
  readonly testSpec: (name: string) => string;
  readonly administration: (name: string) => string;
  readonly attempt: (name: string) => string;
  readonly sourceKey: (name: string) => string;
}

export function reportIds(file: ReportsFile, tenantId: string): ReportIds {
  const suffixes = (entries: readonly { readonly name: string; readonly idSuffix: string }[]) =>
    new Map(entries.map(({ name, idSuffix }) => [name, idSuffix]));
  const students = suffixes(file.students);
  const attempts = suffixes(file.attempts);
  const id = (kind: string) => (name: string) => opaque(`${kind}-${name}`, tenantId, 'reports');
  return {
    school: id('school'),
    class: id('class'),
    student: (name) => `${id('student')(name)}${students.get(name) ?? ''}`,
    form: id('form'),
    testSpec: id('spec'),
    administration: id('administration'),
    attempt: (name) => `${id('attempt')(name)}${attempts.get(name) ?? ''}`,
    sourceKey: (name) => opaque(name, tenantId, 'reports', 'source'),
  };
}

/** A framework of the file with its tenant's GUIDs, which are made when they are first needed. */
interface TenantFramework {
  readonly entry: FrameworkEntry;
  readonly guid: string;
  readonly guidOf: (code: string) => string;
  readonly published: () => Parameters<typeof cfPackageOf>[0];
}

/** The file with what every part of it needs. */
export interface TenantFile {
  readonly file: ReportsFile;
  readonly tenantId: string;
  readonly ids: ReportIds;
  readonly frameworks: ReadonlyMap<string, TenantFramework>;
  readonly specOfForm: ReadonlyMap<string, ReportsFile['testSpecs'][number]>;
  /** A version that follows from the content, as all ids of what is immutable. */
  readonly version: (kind: string, content: unknown) => string;
  readonly slotId: (spec: string, slot: string) => string;
  readonly specRef: (name: string) => {
    readonly contentTestSpecId: string;
    readonly contentTestSpecVersion: string;
  };
}

export function openTenantFile(file: ReportsFile, tenantId: string): TenantFile {
  const ids = reportIds(file, tenantId);
  const version = (kind: string, content: unknown): string =>
    opaque(`${kind}-version`, tenantId, hashCanonical(content));
  const frameworks = new Map(
    file.frameworks.map((entry) => [entry.name, frameworkOf(entry, tenantId)] as const),
  );
  const refs = new Map(
    file.testSpecs.map((spec) => [
      spec.name,
      { contentTestSpecId: ids.testSpec(spec.name), contentTestSpecVersion: version('spec', spec) },
    ]),
  );
  return {
    file,
    tenantId,
    ids,
    frameworks,
    specOfForm: new Map(file.testSpecs.flatMap((spec) => spec.forms.map((form) => [form, spec]))),
    version,
    slotId: (spec, slot) => opaque(`slot-${slot}`, tenantId, spec),
    specRef: (name) => defined(refs.get(name)),
  };
}

/** Names have been checked when the file was loaded. */
export function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a loaded reports.json names nothing that it lacks');
  return value;
}

function frameworkOf(entry: FrameworkEntry, tenantId: string): TenantFramework {
  const guid = deterministicUuid('case-framework', tenantId, 'reports', entry.name);
  const guids = new Map<string, string>();
  const guidOf = (code: string): string => {
    const known = guids.get(code);
    if (known !== undefined) return known;
    const made = deterministicUuid('case-competency', tenantId, 'reports', entry.name, code);
    guids.set(code, made);
    return made;
  };
  return {
    entry,
    guid,
    guidOf,
    published: once(() => ({
      guid,
      title: entry.title,
      changedAt: entry.changedAt,
      educationLevel: [],
      items: competenciesOf(entry).map((competency) => ({
        ...competency,
        guid: guidOf(competency.code),
        parent: competency.parent === undefined ? undefined : guidOf(competency.parent),
      })),
    })),
  };
}
