import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { parseInstant } from '#shared/kernel/instant.ts';
import { verifiedDocument } from '#shared/records/find-record.ts';
import { parsePartitionKey } from '#shared/records/record-key.ts';
import { recordAmong } from '#shared/stores/records-table.ts';
import type { Item } from '#shared/stores/dynamo.ts';
import { bySortKey, sortKeyOf, unrepaired, type Finding } from './finding.ts';

/**
 * Compares one released record. Its checksums prove it: the document's own, and the SHA-256 of its parameters. Documents never change, so a
 * sound one is kept as it is. Only a lifecycle can be newer than the backup.
 */
export function compareRecords(
  pk: string,
  backup: readonly Item[],
  current: readonly Item[],
): readonly Finding[] {
  const now = soundness(pk, current);
  const was = soundness(pk, backup);
  const damagedBackup = was === 'damaged' ? [unrepaired(`${pk} in the backup`, 'damaged', 'not copied')] : [];
  if (now === 'sound') return [...damagedBackup, ...compareLifecycles(pk, backup, current)];
  if (was !== 'sound') {
    if (now === 'damaged')
      return [unrepaired(pk, 'damaged', 'the backup has no sound copy'), ...damagedBackup];
    return was === 'damaged'
      ? [unrepaired(pk, 'missing', 'its copy in the backup is damaged: not copied')]
      : [];
  }
  return [compareContent(pk, backup, current)];
}

/** Compares the content of a record that is missing or damaged with a sound backup. */
function compareContent(pk: string, backup: readonly Item[], current: readonly Item[]): Finding {
  const held = bySortKey(current);
  const document = held.get('document');
  if (document !== undefined && hasOtherDocument(backup, current)) {
    return unrepaired(
      pk,
      'damaged',
      'its document is intact and is not that of the backup: release its file again',
    );
  }
  const differing = backup.filter((item) => {
    const now = held.get(sortKeyOf(item));
    const isNewer = sortKeyOf(item) === 'lifecycle' && now !== undefined && isLifecycle(now);
    return !isNewer && !isDeepStrictEqual(now, item);
  });
  // The document last, as at a release: half a record is never visible.
  const ordered = differing.toSorted(
    (a, b) => Number(sortKeyOf(a) === 'document') - Number(sortKeyOf(b) === 'document'),
  );
  return {
    what: pk,
    state: document === undefined ? 'missing' : 'damaged',
    writes: ordered.map((item) => ({ item, over: held.get(sortKeyOf(item)) })),
  };
}

function compareLifecycles(
  pk: string,
  backup: readonly Item[],
  current: readonly Item[],
): readonly Finding[] {
  const was = bySortKey(backup).get('lifecycle');
  const now = bySortKey(current).get('lifecycle');
  if (was === undefined || isDeepStrictEqual(was, now)) return [];
  const what = `${pk} lifecycle`;
  return now === undefined
    ? [{ what, state: 'missing', writes: [{ item: was }] }]
    : [{ what, state: 'changed', writes: [] }];
}

/** A document of any form: the backup may be of another build. */
const anyDocument = z.looseObject({ id: z.unknown().optional() });

/** Returns whether both documents hold their own checksum and differ. */
function hasOtherDocument(backup: readonly Item[], current: readonly Item[]): boolean {
  const [was, now] = [recordAmong(backup), recordAmong(current)];
  return (
    was !== undefined &&
    now !== undefined &&
    verifiedDocument(now.stored, anyDocument).ok &&
    now.stored.document !== was.stored.document
  );
}

const withTable = z.object({
  eligibilityRules: z.object({ exposure: z.object({ tableSha256: z.string() }) }),
});

/** `absent`: there is no document, so that no function sees a record. */
function soundness(pk: string, items: readonly Item[]): 'absent' | 'sound' | 'damaged' {
  const record = recordAmong(items);
  if (record === undefined) return 'absent';
  const key = parsePartitionKey(pk);
  const document = verifiedDocument(record.stored, anyDocument);
  const lifecycle = bySortKey(items).get('lifecycle');
  if (key === undefined || !document.ok || document.value.id !== key.id) return 'damaged';
  if (lifecycle !== undefined && !isLifecycle(lifecycle)) return 'damaged';
  const hash = record.stored.parameters?.hash;
  const wanted = withTable.safeParse(document.value).data?.eligibilityRules.exposure.tableSha256;
  if (hash === undefined) return key.kind === 'calibration' || wanted !== undefined ? 'damaged' : 'sound';
  const isIntact = record.parameters !== undefined && sha256Hex(record.parameters) === hash;
  return isIntact && (wanted === undefined || wanted === hash) ? 'sound' : 'damaged';
}

function isLifecycle(item: Item): boolean {
  const why = item['blockedBecause'];
  if (why !== undefined && typeof why !== 'string') return false;
  return [item['deprecatedAt'], item['sunsetAt'], item['blockedAt']].every(
    (time) => time === undefined || (typeof time === 'string' && parseInstant(time) !== undefined),
  );
}
