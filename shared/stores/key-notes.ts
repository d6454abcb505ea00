import type { SSMClient } from '@aws-sdk/client-ssm';
import { formatInstant } from '#shared/kernel/instant.ts';
import { keyNumber, type KeyRecord, type WritableKeySettings } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { readGateFlags, writeGateParameter } from './gate-parameters.ts';

/**
 * Notes on a stage's key ring in Systems Manager, outside its table: `/<stage>/retired-keys/<purpose>/<kid>` is the time of a retirement, followed by
 * `leaked` if the key had leaked; `/<stage>/key-ring/<purpose>` is the time and the id of the newest key.
 */
export interface KeyNotes {
  noteRetired(purpose: KeyPurpose, kid: string, at: number, isLeaked: boolean): Promise<void>;
  /** Returns the ids of the retired keys, and whether each had leaked. */
  retired(purpose: KeyPurpose): Promise<ReadonlyMap<string, boolean>>;
  noteMade(purpose: KeyPurpose, kid: string, at: number): Promise<void>;
  /** Returns the id of the newest key of each purpose that ever had one, even if the table no longer has it. */
  newest(): Promise<ReadonlyMap<string, string>>;
}

/**
 * Creates notes, which show an operator with a lost table that there were keys, and which of them never come back. Needs `ssm:PutParameter` to note
 * and `ssm:GetParametersByPath` to list. Throws SSM's errors.
 */
export function createKeyNotes(client: SSMClient, stage: string): KeyNotes {
  const retired = (purpose: KeyPurpose): string => `/${stage}/retired-keys/${purpose}`;
  const made = `/${stage}/key-ring`;
  /** Returns the text after the time in each note below a path. */
  const list = async (path: string): Promise<ReadonlyMap<string, string>> =>
    new Map([...(await readGateFlags(client, path))].map(([name, note]) => [name, note.split(' ')[1] ?? '']));
  const newest = (): Promise<ReadonlyMap<string, string>> => list(made);
  return {
    noteRetired: (purpose, kid, at, isLeaked) =>
      writeGateParameter(
        client,
        `${retired(purpose)}/${kid}`,
        formatInstant(at) + (isLeaked ? ' leaked' : ''),
      ),
    retired: async (purpose) =>
      new Map([...(await list(retired(purpose)))].map(([kid, note]) => [kid, note === 'leaked'])),
    noteMade: async (purpose, kid, at) => {
      // Another administrator may have noted a newer one meanwhile.
      if ((keyNumber((await newest()).get(purpose) ?? '') ?? 0) <= (keyNumber(kid) ?? 0))
        await writeGateParameter(client, `${made}/${purpose}`, `${formatInstant(at)} ${kid}`);
    },
    newest,
  };
}

/** The time of a key that the table has lost: the notes do not contain its creation. */
const UNKNOWN = 0;

/**
 * Wraps settings so that their changes are noted: a retirement before it is written, so that a key retired in the table is always in the notes; a new
 * key afterwards, so that a noted key was in the table. A key that remains only in the notes is listed as retired, so that its number is not reused.
 */
export function noteChanges(settings: WritableKeySettings, notes: KeyNotes): WritableKeySettings {
  return {
    async list(purpose, signal) {
      // Before the table, since another administrator may note a key in between.
      const [made, retired] = await Promise.all([notes.newest(), notes.retired(purpose)]);
      const records = await settings.list(purpose, signal);
      const newest = made.get(purpose);
      const lost = new Set([...retired.keys(), ...(newest === undefined ? [] : [newest])]);
      for (const { kid } of records) lost.delete(kid);
      return [
        ...records,
        ...[...lost].map((kid): KeyRecord => ({ purpose, kid, state: 'retired', createdAt: UNKNOWN })),
      ];
    },
    async write(changes) {
      for (const change of changes) {
        if (change.kind === 'move' && change.to === 'retired')
          await notes.noteRetired(change.purpose, change.kid, change.at, change.leaked === true);
      }
      const isWritten = await settings.write(changes);
      for (const change of isWritten ? changes : []) {
        if (change.kind === 'create')
          await notes.noteMade(change.record.purpose, change.record.kid, change.record.createdAt);
        // Once more: the note of its creation may have failed.
        else if (change.to === 'active') await notes.noteMade(change.purpose, change.kid, change.at);
      }
      return isWritten;
    },
  };
}
