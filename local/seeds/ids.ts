import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import type { ReportsFile } from './reports-file.ts';

/** Returns a readable prefix and twelve hexadecimal characters that follow from the parts. */
export function opaque(prefix: string, ...parts: readonly string[]): string {
  return `${prefix}-${deterministicUuid(prefix, ...parts).slice(-12)}`;
}

/** A tenant's ids for the names in one bank's files. */
export interface BankIds {
  readonly kc: (name: string) => string;
  readonly standard: (name: string) => string;
  readonly item: (name: string) => string;
}

export function bankIds(directory: string, tenantId: string): BankIds {
  return {
    kc: (name) => deterministicUuid('case-kc', tenantId, directory, name),
    standard: (name) => deterministicUuid('case-standard', tenantId, directory, name),
    item: (name) => qtiIdentifier(name, tenantId, directory),
  };
}

/** A QTI identifier has neither spaces nor most punctuation. */
export function qtiIdentifier(name: string, tenantId: string, directory: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${word}-${deterministicUuid('qti-identifier', tenantId, directory, name).slice(-8)}`;
}

type ReportName =
  | 'school'
  | 'class'
  | 'student'
  | 'form'
  | 'testSpec'
  | 'administration'
  | 'attempt'
  | 'sourceKey';

/** A tenant's ids for the names in `reports.json`. */
export type ReportIds = Readonly<Record<ReportName, (name: string) => string>>;

export function reportIds(file: ReportsFile, tenantId: string): ReportIds {
  const id = (kind: string) => (name: string) => opaque(`${kind}-${name}`, tenantId, 'reports');
  const suffixed = (
    kind: string,
    entries: readonly { readonly name: string; readonly idSuffix: string }[],
  ) => {
    const suffixes = new Map(entries.map(({ name, idSuffix }) => [name, idSuffix]));
    return (name: string) => `${id(kind)(name)}${suffixes.get(name) ?? ''}`;
  };
  return {
    school: id('school'),
    class: id('class'),
    student: suffixed('student', file.students),
    form: id('form'),
    testSpec: id('spec'),
    administration: id('administration'),
    attempt: suffixed('attempt', file.attempts),
    sourceKey: (name) => opaque(name, tenantId, 'reports', 'source'),
  };
}
