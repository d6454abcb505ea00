import { scaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import type { ScaleCalibration } from '#shared/contract/mastery/scale-calibration.ts';
import { selectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import type { SelectionPolicy } from '#shared/contract/mastery/selection-policy.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { createRecent } from '#shared/kernel/recent.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { parseStrictJson } from '#shared/kernel/strict-json.ts';
import { documentChecksum } from './checksum.ts';
import type { RecordKey } from './record-key.ts';
import { calibrationParameters } from './records.ts';
import type { CalibrationParameters } from './records.ts';
import type { Lifecycle, ParametersReference, RecordsTable, StoredRecord } from './table.ts';

/**
 * A stored record that must not be used: its bytes are not those that were released, or its shape is one that this build does not know
 * (`unreadable`). The lifecycle is stored beside the document and stays usable.
 */
export interface RecordFault {
  readonly kind: 'checksum-mismatch' | 'unreadable';
  readonly lifecycle: Lifecycle;
}

/** A policy as a caller of this tenant may see it. */
export interface PolicyEntry {
  readonly document: SelectionPolicy;
  readonly lifecycle: Lifecycle;
}

/** A calibration's public descriptor; parameters are read on demand and only by the engine. */
export interface CalibrationEntry {
  readonly document: ScaleCalibration;
  readonly lifecycle: Lifecycle;
  readonly parametersHash: string;
  /** Reads, verifies and parses the parameters; containers keep the last few by their hash. */
  readonly parameters: () => Promise<Result<CalibrationParameters, RecordFault>>;
}

/** Reads released records for a tenant. An absent record and one of another tenant are the same `undefined` [MA-104]. */
export interface RecordStore {
  policy(tenantId: string, id: string): Promise<Result<PolicyEntry | undefined, RecordFault>>;
  calibration(tenantId: string, id: string): Promise<Result<CalibrationEntry | undefined, RecordFault>>;
}

export interface RecordStoreOptions {
  readonly table: RecordsTable;
  /** Whether a tenant is one of the authorized platform tenants, which may read system records [MA-105]. */
  readonly mayReadSystem: (tenantId: string) => boolean | Promise<boolean>;
  /** How many parsed parameter sets a container keeps. A bank of 10,000 items takes some ten megabytes. */
  readonly cachedParameters?: number;
}

/**
 * A store over the table `records`. A tenant's own record comes before a system record of the same id. Every document is checked against
 * its checksum when it is read, parameters against their hash.
 */
export function createRecordStore(options: RecordStoreOptions): RecordStore {
  const { table } = options;
  const cache = createRecent<CalibrationParameters>(options.cachedParameters ?? 4);

  async function find(
    kind: RecordKey['kind'],
    tenantId: string,
    id: string,
  ): Promise<{ readonly key: RecordKey; readonly stored: StoredRecord } | undefined> {
    const own: RecordKey = { kind, id, tenantId };
    const system: RecordKey = { kind, id };
    // All at once, so that what a tenant may not see takes as long as what is not there.
    const [ownRecord, systemRecord, authorized] = await Promise.all([
      table.read(own),
      table.read(system),
      authorization(tenantId),
    ]);
    if (ownRecord !== undefined) return { key: own, stored: ownRecord };
    return systemRecord !== undefined && authorized() ? { key: system, stored: systemRecord } : undefined;
  }

  /** The answer, or its failure, is taken only where a system record depends on it: a tenant's own records stay readable without. */
  async function authorization(tenantId: string): Promise<() => boolean> {
    try {
      const authorized = await options.mayReadSystem(tenantId);
      return () => authorized;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  async function readParameters(
    key: RecordKey,
    reference: ParametersReference,
    lifecycle: Lifecycle,
  ): Promise<Result<CalibrationParameters, RecordFault>> {
    const cached = cache.get(reference.hash);
    if (cached !== undefined) return ok(cached);
    const text = await table.readParameters(key, reference);
    if (text === undefined || sha256Hex(text) !== reference.hash) {
      return err({ kind: 'checksum-mismatch', lifecycle });
    }
    const parsed = calibrationParameters.safeParse(JSON.parse(text));
    if (!parsed.success) return err({ kind: 'unreadable', lifecycle });
    cache.set(reference.hash, parsed.data);
    return ok(parsed.data);
  }

  return {
    async policy(tenantId, id) {
      const found = await find('policy', tenantId, id);
      if (found === undefined) return ok(undefined);
      const { lifecycle } = found.stored;
      const document = verifiedDocument(found.stored);
      if (!document.ok) return document;
      const parsed = selectionPolicy.safeParse(document.value);
      if (!parsed.success) return err({ kind: 'unreadable', lifecycle });
      return ok({ document: parsed.data, lifecycle });
    },
    async calibration(tenantId, id) {
      const found = await find('calibration', tenantId, id);
      if (found === undefined) return ok(undefined);
      const { lifecycle, parameters } = found.stored;
      const document = verifiedDocument(found.stored);
      if (!document.ok) return document;
      const parsed = scaleCalibration.safeParse(document.value);
      if (!parsed.success || parameters === undefined) return err({ kind: 'unreadable', lifecycle });
      return ok({
        document: parsed.data,
        lifecycle,
        parametersHash: parameters.hash,
        parameters: () => readParameters(found.key, parameters, lifecycle),
      });
    },
  };
}

/** The document as JSON when its text is intact, i.e. its own checksum holds [MA-115, MA-122]. */
function verifiedDocument(stored: StoredRecord): Result<Readonly<Record<string, unknown>>, RecordFault> {
  const document = parseObject(stored.document);
  return document !== undefined && document['checksum'] === documentChecksum(document)
    ? ok(document)
    : err({ kind: 'checksum-mismatch', lifecycle: stored.lifecycle });
}

/** Damaged bytes need not even be JSON. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseStrictJson(text);
  return parsed.ok &&
    typeof parsed.value === 'object' &&
    parsed.value !== null &&
    !Array.isArray(parsed.value)
    ? (parsed.value as Readonly<Record<string, unknown>>)
    : undefined;
}
