import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import { opaque } from './ids.ts';
import type { AttemptEntry, ReportsFile } from './reports-file.ts';
import { defined, type FileSpec, type Tenant } from './tenant.ts';

/** One attempt of `reports.json`, or a copy of it in a history: what QTI, Results and Caliper each have a part of. */
export interface SeedAttempt {
  readonly entry: AttemptEntry;
  readonly spec: FileSpec;
  readonly attemptId: string;
  readonly resultRecordId: string;
  /** The event that has published the record; null when none did. */
  readonly eventIri: string | null;
  readonly candidateSourcedId: string;
  readonly qtiTestId: string;
  readonly submittedAt: string;
  /** When the record, if there is one, was last modified. */
  readonly modifiedAt: string;
  readonly version: (kind: 'attempt' | 'record') => string;
  /** Whether its facts are made when they are first asked for. */
  readonly isGenerated: boolean;
}

/** Returns every attempt, those of the histories last. */
export function attemptsOf(tenant: Tenant): readonly SeedAttempt[] {
  const { file, ids, tenantId } = tenant;
  const written = file.attempts.map((entry) => ({
    ...commonOf(tenant, entry),
    attemptId: ids.attempt(entry.name),
    resultRecordId: opaque(`result-${entry.name}`, tenantId),
    eventIri: eventIri(entry, tenantId),
    candidateSourcedId: ids.student(entry.student),
    isGenerated: entry.record?.generatedMastery !== undefined,
  }));
  return [...written, ...file.histories.flatMap((history) => copiesOf(tenant, history))];
}

function commonOf({ specOfForm, ids, version }: Tenant, entry: AttemptEntry) {
  const { form, submittedAt, record } = entry;
  return {
    entry,
    spec: specOfForm(form),
    qtiTestId: ids.form(form),
    submittedAt,
    modifiedAt: record?.modifiedAt ?? submittedAt,
    version: (kind: 'attempt' | 'record') => version(kind, entry),
  };
}

function eventIri({ name, record }: AttemptEntry, ...parts: readonly string[]): string | null {
  return record?.published === true ? `urn:uuid:${deterministicUuid('completion', name, ...parts)}` : null;
}

const DAY = 86_400_000;

/**
 * Returns a history: copies of the templates by turns, on the forms of their test specs by turns, ten in a hundred days. In each ten, the first three
 * are modified at the very same instant, the next three a microsecond and nanoseconds later, the others twenty days apart.
 */
function copiesOf(
  tenant: Tenant,
  { student, attempts, templates, since }: ReportsFile['histories'][number],
): readonly SeedAttempt[] {
  const { tenantId, ids, file } = tenant;
  const originals = templates.map((name) =>
    commonOf(tenant, defined(file.attempts.find((entry) => entry.name === name))),
  );
  const attemptId = opaque(`attempt-of-${student}`, tenantId);
  const resultRecordId = opaque(`result-of-${student}`, tenantId);
  return Array.from({ length: attempts }, (_, at) => {
    const original = defined(originals[at % originals.length]);
    const { forms } = original.spec;
    // The first six of ten are on one day.
    const day = Date.parse(since) + (Math.floor(at / 10) * 100 + Math.max(0, (at % 10) - 5) * 20) * DAY;
    const number = String(at + 1).padStart(String(attempts).length, '0');
    return {
      ...original,
      attemptId: `${attemptId}-${number}`,
      resultRecordId: `${resultRecordId}-${number}`,
      eventIri: eventIri(original.entry, tenantId, student, number),
      candidateSourcedId: ids.student(student),
      qtiTestId: defined(forms[Math.floor(at / originals.length) % forms.length]).qtiTestId,
      submittedAt: formatInstant(day - 3_600_000 + (at % 10) * 1_000),
      modifiedAt: instantOfDay(day, at % 10),
      version: (kind) => `${original.version(kind)}-${at + 1}`,
      isGenerated: true,
    };
  });
}

function instantOfDay(day: number, at: number): string {
  const fraction = ['000', '000000', '000', '000001', '000000001', '00000001'][at];
  if (fraction === undefined) return formatInstant(day);
  return `${formatInstant(day).slice(0, 19)}.${fraction}Z`;
}
