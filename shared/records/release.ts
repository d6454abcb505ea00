import * as z from 'zod';
import { timestamp } from '#shared/contract/mastery/primitives.ts';
import { namesTable } from '#shared/contract/mastery/selection-policy.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { schemaDefects, type Defect } from '#shared/kernel/defect.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { checkAnalysisPolicy, type AnalysisPolicyRecord } from './check-analysis-policy.ts';
import { checkCalibration, type ModelCheck } from './check-calibration.ts';
import { checkPolicy } from './check-policy.ts';
import { lifecycleDefects } from './file-members.ts';
import type { RecordKey } from './record-key.ts';
import type { CalibrationRecord, ExposureTable, PolicyRecord } from './records.ts';
import type { Lifecycle, NewRecord, RecordsTable } from './table.ts';

/** A record that is now in the table; `already`: the same content was there before. */
export interface Released {
  readonly key: RecordKey;
  readonly checksum: string;
  readonly already: boolean;
}

/** Why nothing was written: the file has defects, or the id permanently belongs to other content [MA-228]. */
export type ReleaseFailure =
  | { readonly kind: 'defects'; readonly defects: readonly Defect[] }
  | { readonly kind: 'id-taken'; readonly key: RecordKey; readonly checksum: string };

export interface PreparedRecord {
  readonly key: RecordKey;
  readonly checksum: string;
  readonly stored: NewRecord;
  readonly lifecycle: Lifecycle;
}

/**
 * Checks a selection policy's file and brings it into its stored form.
 * @param table its item parameters; required if the policy's exposure rule names a table, and rejected otherwise
 */
export function preparePolicy(
  file: unknown,
  table?: ExposureTable,
): Result<PreparedRecord, readonly Defect[]> {
  const checked = checkPolicy(file);
  if (!checked.ok) return checked;
  const { exposure } = checked.value.document.eligibilityRules;
  const text = table && canonicalJson(table);
  const hash = text && sha256Hex(text);
  const wanted = exposure !== undefined && namesTable(exposure) ? exposure.tableSha256 : undefined;
  if (hash === wanted)
    return ok(
      preparedRecord(
        'policy',
        checked.value,
        text === undefined || hash === undefined ? undefined : { hash, text },
      ),
    );
  let message = `names another table than the one given, whose tableSha256 is ${hash}`;
  if (hash === undefined) message = 'needs its table: --exposure-table FILE';
  if (wanted === undefined) message = 'takes no table: it has no tableSha256';
  return err([{ pointer: '/document/eligibilityRules/exposure', message }]);
}

/** Checks an analysis policy's file and brings it into its stored form. */
export function prepareAnalysisPolicy(file: unknown): Result<PreparedRecord, readonly Defect[]> {
  const checked = checkAnalysisPolicy(file);
  return checked.ok ? ok(preparedRecord('analysis-policy', checked.value)) : checked;
}

function preparedRecord(
  kind: RecordKey['kind'],
  {
    document,
    tenantId,
    ...lifecycle
  }: PolicyRecord | AnalysisPolicyRecord | Omit<CalibrationRecord, 'parameters' | 'parametersHash'>,
  parameters?: NewRecord['parameters'],
): PreparedRecord {
  return {
    key: { kind, id: document.id, ...(tenantId === undefined ? {} : { tenantId }) },
    checksum: document.checksum,
    stored: { document: canonicalJson(document), ...(parameters === undefined ? {} : { parameters }) },
    lifecycle,
  };
}

/** Checks a calibration file, including its model, and brings it into its stored form. */
export function prepareCalibration(
  file: unknown,
  checkModel: ModelCheck,
): Result<PreparedRecord, readonly Defect[]> {
  const checked = checkCalibration(file, checkModel);
  if (!checked.ok) return checked;
  const { parameters, parametersHash: hash, ...record } = checked.value;
  return ok(preparedRecord('calibration', record, { hash, text: canonicalJson(parameters) }));
}

/** Writes a prepared record once. A second release of the same content changes nothing; other content under the same id is refused [MA-228]. */
export async function writeRecord(
  table: RecordsTable,
  record: PreparedRecord,
): Promise<Result<Released, ReleaseFailure>> {
  const { key, checksum, stored } = record;
  const taken = err({ kind: 'id-taken', key, checksum } as const);
  let existing = await table.read(key);
  if (existing === undefined && (await table.writeOnce(key, stored)) === 'exists') {
    existing = await table.read(key);
    if (existing === undefined) return taken;
  }
  const isSame =
    existing?.document === stored.document && existing.parameters?.hash === stored.parameters?.hash;
  if (existing !== undefined && !isSame) return taken;
  if (existing === undefined && record.lifecycle.deprecatedAt !== undefined) {
    await table.changeLifecycle(key, record.lifecycle);
  }
  return ok({ key, checksum, already: existing !== undefined });
}

const lifecycle = z.strictObject({ deprecatedAt: timestamp, sunsetAt: timestamp.exactOptional() });

export type DeprecationFailure =
  | { readonly kind: 'defects'; readonly defects: readonly Defect[] }
  | { readonly kind: 'not-found' };

/** Sets, or moves, the deprecation of a released record; its content stays as it is [MA-049, MA-050]. */
export async function deprecateRecord(
  table: RecordsTable,
  key: RecordKey,
  change: { readonly deprecatedAt: string; readonly sunsetAt?: string },
): Promise<Result<Lifecycle, DeprecationFailure>> {
  const parsed = lifecycle.safeParse(change);
  if (!parsed.success) return err({ kind: 'defects', defects: schemaDefects(parsed.error) });
  const defects = lifecycleDefects(parsed.data);
  if (defects.length > 0) return err({ kind: 'defects', defects });
  if ((await table.read(key)) === undefined) return err({ kind: 'not-found' });
  await table.changeLifecycle(key, { sunsetAt: null, ...parsed.data });
  return ok(parsed.data);
}

/** A block, with its time as an RFC 3339 UTC instant and what operators should know. */
export type Block = Required<Pick<Lifecycle, 'blockedAt' | 'blockedBecause'>>;

/**
 * Blocks a released record that turned out to be wrong, or lifts the block: within a minute no start, simulation or decision of a run goes by a blocked one.
 * @returns whether there is such a record
 */
export async function blockRecord(
  table: RecordsTable,
  key: RecordKey,
  block: Block | undefined,
): Promise<boolean> {
  if ((await table.read(key)) === undefined) return false;
  await table.changeLifecycle(key, block ?? { blockedAt: null, blockedBecause: null });
  return true;
}
