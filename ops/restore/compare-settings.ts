import { isDeepStrictEqual } from 'node:util';
import { formatInstant } from '#shared/kernel/instant.ts';
import { keyNumber, type DataKeyOpener, type KeyRecord } from '#shared/keys/key-record.ts';
import { keyPurposes, type KeyPurpose } from '#shared/keys/key-ring.ts';
import { keyRecordOf } from '#shared/stores/settings-table.ts';
import type { KeyNotes } from '#shared/stores/key-notes.ts';
import type { Item } from '#shared/stores/dynamo.ts';
import { bySortKey, sortKeyOf, unrepaired, type Compare, type Finding } from './finding.ts';

/** What distinguishes a key of the ring from other bytes, and a key that may come back from one that may not. */
export interface KeyProof {
  readonly kms: DataKeyOpener;
  readonly stage: string;
  /** What is noted of the retired keys outside the table. */
  readonly notes: Pick<KeyNotes, 'retired'>;
  /** Epoch milliseconds. */
  readonly now: number;
}

const DATA_KEY_BYTES = 32;

/**
 * Compares the keys of one purpose. KMS proves a key: it unwraps it under exactly the encryption context of its place. A retired key and the
 * item of the release gates are never copied, nor is a service profile: its tenant may have left, or its credential may have been revoked since.
 */
export function createCompareSettings(proof: KeyProof): Compare {
  return async (pk, backup, current) => {
    const purpose = keyPurposes.find((name) => pk === `key#${name}`);
    if (purpose === undefined) return withheldItems(pk, backup, current);
    const held = bySortKey(current);
    const retired = await proof.notes.retired(purpose);
    const findings: Finding[] = [];
    for (const item of backup) {
      const kid = sortKeyOf(item);
      const noted = { isRetired: retired.has(kid), isLeaked: retired.get(kid) === true };
      findings.push(...(await compareKey(proof, purpose, item, held.get(kid), current, noted)));
    }
    const saved = bySortKey(backup);
    for (const item of current.filter((each) => !saved.has(sortKeyOf(each)))) {
      if (!(await isProven(proof, purpose, item)))
        findings.push(unrepaired(nameOf(purpose, item), 'damaged', 'the backup does not have it'));
    }
    return findings;
  };
}

function withheldItems(pk: string, backup: readonly Item[], current: readonly Item[]): readonly Finding[] {
  const held = bySortKey(current);
  return backup
    .filter((item) => !isDeepStrictEqual(held.get(sortKeyOf(item)), item))
    .map((item) => ({
      what: `${pk} ${sortKeyOf(item)}`,
      state: 'withheld',
      note: pk.startsWith('profile#')
        ? 'a service profile is never restored: store it again (npm run release -- profile --all)'
        : 'the state of the release gates is never restored: apply the manifest again (npm run gates -- apply)',
      writes: [],
    }));
}

async function compareKey(
  proof: KeyProof,
  purpose: KeyPurpose,
  was: Item,
  now: Item | undefined,
  current: readonly Item[],
  { isRetired, isLeaked }: { readonly isRetired: boolean; readonly isLeaked: boolean },
): Promise<readonly Finding[]> {
  const what = nameOf(purpose, was);
  const isSound = await isProven(proof, purpose, was);
  const noticed = isSound ? [] : [unrepaired(`${what} in the backup`, 'damaged', 'not copied')];
  if (now !== undefined && (await isProven(proof, purpose, now))) {
    if (isDeepStrictEqual(was, now)) return noticed;
    return [...noticed, { what, state: 'changed', note: `now ${String(now['state'])}`, writes: [] }];
  }
  const nowRecord = now && parsed(purpose, now);
  if (isRetired || now?.['retiredAt'] !== undefined || nowRecord?.state === 'retired') {
    // A key that was retired already when the backup was made has nothing left to unwrap: it only keeps its number taken.
    if (isSound && parsed(purpose, was)?.state === 'retired')
      return [{ what, state: stateOf(now), writes: [{ item: was, over: now }] }];
    const note = `it ${isLeaked ? 'leaked and ' : ''}was retired and never comes back; its number stays taken`;
    const item = tombstone(nowRecord === undefined || now === undefined ? was : now, isLeaked, proof.now);
    return [...noticed, { what, state: 'withheld', note, writes: [{ item, over: now }] }];
  }
  if (!isSound) return [unrepaired(what, stateOf(now), 'its copy in the backup is damaged: not copied')];
  const wrappedKey = was['wrappedKey'];
  // Only the wrapped key is damaged: the state and the times are newer than those of the backup.
  const item =
    nowRecord !== undefined && now !== undefined && wrappedKey !== undefined
      ? { ...now, wrappedKey }
      : behindSuccessor(proof, purpose, was, current);
  return [{ what, state: stateOf(now), writes: [{ item, over: now }] }];
}

/** Returns what is left of a key that was retired: its place and its times. */
function tombstone(key: Item, isLeaked: boolean, at: number): Item {
  return {
    retiredAt: formatInstant(at),
    ...key,
    state: 'retired',
    ...(isLeaked ? { leaked: true } : {}),
    wrappedKey: undefined,
  };
}

function stateOf(now: Item | undefined): 'missing' | 'damaged' {
  return now === undefined ? 'missing' : 'damaged';
}

/** A key that sealed when the backup was made, and that a later one has replaced since, comes back for opening only. */
function behindSuccessor({ now }: KeyProof, purpose: KeyPurpose, was: Item, current: readonly Item[]): Item {
  const number = keyNumber(sortKeyOf(was)) ?? 0;
  const isReplaced = current.some((item) => {
    const record = parsed(purpose, item);
    return record !== undefined && record.activatedAt !== undefined && (keyNumber(record.kid) ?? 0) > number;
  });
  return was['state'] === 'active' && isReplaced
    ? { ...was, state: 'opening', openingAt: formatInstant(now) }
    : was;
}

/** Returns whether an item is a key of its place: readable, and either retired or unwrapped by KMS. Throws when KMS does not answer. */
async function isProven({ kms, stage }: KeyProof, purpose: KeyPurpose, item: Item): Promise<boolean> {
  const record = parsed(purpose, item);
  if (record === undefined) return false;
  if (record.state === 'retired') return record.wrappedKey === undefined;
  if (record.wrappedKey === undefined) return false;
  try {
    const key = await kms.open(record.wrappedKey, { stage, purpose, kid: record.kid });
    return key.byteLength === DATA_KEY_BYTES;
  } catch (error) {
    if (error instanceof Error && error.name === 'InvalidCiphertextException') return false;
    throw error;
  }
}

function parsed(purpose: KeyPurpose, item: Item): KeyRecord | undefined {
  try {
    return keyRecordOf(purpose, item);
  } catch {
    return undefined;
  }
}

function nameOf(purpose: KeyPurpose, item: Item): string {
  return `key ${purpose} ${sortKeyOf(item)}`;
}
