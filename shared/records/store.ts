import type * as z from 'zod';
import { scaleCalibration, type ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { namesTable, selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { createRecent, type Recent } from '#shared/kernel/recent.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { createRecordFinder, createRecordReader } from './find-record.ts';
import type { RecordFault, RecordFinderOptions } from './find-record.ts';
import type { RecordKey } from './record-key.ts';
import { calibrationParameters, exposureTable } from './records.ts';
import type { CalibrationParameters, ExposureTable } from './records.ts';
import type { Lifecycle, ParametersReference, RecordsTable } from './table.ts';

/** A policy as a caller of this tenant may see it. */
export interface PolicyEntry {
  readonly document: SelectionPolicy;
  readonly lifecycle: Lifecycle;
  /** The table that the policy's exposure rule names, if any: server-only. */
  readonly exposureTable: ExposureTable | undefined;
}

/** A calibration's public descriptor; parameters are read on demand and only by the engine. */
export interface CalibrationEntry {
  readonly document: ScaleCalibration;
  readonly lifecycle: Lifecycle;
  readonly parametersHash: string;
  /** Reads, verifies and parses the parameters; containers cache the last few by their hash. */
  readonly parameters: () => Promise<Result<CalibrationParameters, RecordFault>>;
}

/**
 * Reads released records for a tenant. An absent record and another tenant's are the same `undefined` [MA-104]. With the checksum that a run is pinned to,
 * a container that remembers another release of the id looks again.
 */
export interface RecordStore {
  policy(
    tenantId: string,
    id: string,
    checksum?: string,
  ): Promise<Result<PolicyEntry | undefined, RecordFault>>;
  calibration(
    tenantId: string,
    id: string,
    checksum?: string,
  ): Promise<Result<CalibrationEntry | undefined, RecordFault>>;
}

export interface RecordStoreOptions extends RecordFinderOptions {
  readonly table: RecordFinderOptions['table'] & Pick<RecordsTable, 'readParameters'>;
}

/** How many characters of parameters a container keeps parsed, by their hash. A bank of 10,000 items has some two million, and takes about ten megabytes. */
const KEPT_CHARACTERS = 8_000_000;

/**
 * Creates a store over the table `records`. A tenant's own record precedes a system record of the same id. Documents are verified by their checksum,
 * parameters and the table of a policy by their hash, when they are read; what cannot change is then kept.
 */
export function createRecordStore(options: RecordStoreOptions): RecordStore {
  const { table: records } = options;
  const findPolicy = createRecordFinder('policy', createRecordReader(selectionPolicy, options), options);
  const findCalibration = createRecordFinder(
    'calibration',
    createRecordReader(scaleCalibration, options),
    options,
  );
  const parametersOf = {
    schema: calibrationParameters,
    cache: createRecent<CalibrationParameters>(KEPT_CHARACTERS),
  };
  const tableOf = { schema: exposureTable, cache: createRecent<ExposureTable>(KEPT_CHARACTERS) };

  async function readParameters<T>(
    { schema, cache }: { readonly schema: z.ZodType<T>; readonly cache: Recent<T> },
    key: RecordKey,
    reference: ParametersReference,
    lifecycle: Lifecycle,
  ): Promise<Result<T, RecordFault>> {
    const cached = cache.get(reference.hash);
    if (cached !== undefined) return ok(cached);
    const text = await records.readParameters(key, reference);
    if (text === undefined || sha256Hex(text) !== reference.hash) {
      return err({ kind: 'checksum-mismatch', lifecycle });
    }
    const parsed = schema.safeParse(JSON.parse(text));
    if (!parsed.success) return err({ kind: 'unreadable', lifecycle });
    cache.set(reference.hash, parsed.data, text.length);
    return ok(parsed.data);
  }

  return {
    async policy(tenantId, id, checksum) {
      const found = await findPolicy(tenantId, id, checksum);
      if (!found.ok) return found;
      if (found.value === undefined) return ok(undefined);
      const { key, document, lifecycle, parameters } = found.value;
      const { exposure } = document.eligibilityRules;
      if (exposure === undefined || !namesTable(exposure))
        return ok({ document, lifecycle, exposureTable: undefined });
      if (parameters?.hash !== exposure.tableSha256) return err({ kind: 'checksum-mismatch', lifecycle });
      const table = await readParameters(tableOf, key, parameters, lifecycle);
      return table.ok ? ok({ document, lifecycle, exposureTable: table.value }) : table;
    },
    async calibration(tenantId, id, checksum) {
      const found = await findCalibration(tenantId, id, checksum);
      if (!found.ok) return found;
      if (found.value === undefined) return ok(undefined);
      const { key, document, lifecycle, parameters } = found.value;
      if (parameters === undefined) return err({ kind: 'unreadable', lifecycle });
      return ok({
        document,
        lifecycle,
        parametersHash: parameters.hash,
        parameters: () => readParameters(parametersOf, key, parameters, lifecycle),
      });
    },
  };
}
