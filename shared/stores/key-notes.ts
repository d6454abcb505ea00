import type { SSMClient } from '@aws-sdk/client-ssm';
import { formatInstant } from '#shared/kernel/instant.ts';
import { keyNumber } from '#shared/keys/key-record.ts';
import type { KeyRecord, WritableKeySettings } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { readGateFlags, writeGateParameter } from './gate-parameters.ts';

/**
 * What is noted of a stage's key ring in Systems Manager, outside its table: `/<stage>/retired-keys/<purpose>/<kid>` is the time of a
 * retirement, with `leaked` behind it if the key had leaked; `/<stage>/key-ring/<purpose>` is the time and the id of the newest key.
 */
export interface KeyNotes {
  noteRetired(purpose: KeyPurpose, kid: string, at: number, isLeaked: boolean): Promise<void>;
  retired(purpose: KeyPurpose): Promise<ReadonlySet<string>>;
  /** Those of the retired keys that had leaked. */
  leaked(purpose: KeyPurpose): Promise<ReadonlySet<string>>;
  noteMade(purpose: KeyPurpose, kid: string, at: number): Promise<void>;
  /** The id of the newest key that there ever was, whether or not the table still has it. */
  newest(purpose: KeyPurpose): Promise<string | undefined>;
  /** The purposes that ever had a key: one of them without any key now has lost it. */
  made(): Promise<ReadonlySet<string>>;
}

/**
 * Notes, so that whoever looks at a lost table knows which keys never come back, and that there were keys. Needs `ssm:PutParameter` to note
 * and `ssm:GetParametersByPath` to list. Throws what SSM throws.
 */
export function createKeyNotes(client: SSMClient, stage: string): KeyNotes {
  const retired = (purpose: KeyPurpose): string => `/${stage}/retired-keys/${purpose}`;
  const made = `/${stage}/key-ring`;
  const newest = async (purpose: KeyPurpose): Promise<string | undefined> =>
    (await readGateFlags(client, made)).get(purpose)?.split(' ')[1];
  return {
    noteRetired: (purpose, kid, at, isLeaked) =>
      writeGateParameter(
        client,
        `${retired(purpose)}/${kid}`,
        formatInstant(at) + (isLeaked ? ' leaked' : ''),
      ),
    retired: async (purpose) => new Set((await readGateFlags(client, retired(purpose))).keys()),
    leaked: async (purpose) =>
      new Set(
        [...(await readGateFlags(client, retired(purpose)))].flatMap(([kid, value]) =>
          value.endsWith(' leaked') ? [kid] : [],
        ),
      ),
    noteMade: async (purpose, kid, at) => {
      // Another administrator may have noted a newer one meanwhile.
      if ((keyNumber((await newest(purpose)) ?? '') ?? 0) <= (keyNumber(kid) ?? 0))
        await writeGateParameter(client, `${made}/${purpose}`, `${formatInstant(at)} ${kid}`);
    },
    newest,
    made: async () => new Set((await readGateFlags(client, made)).keys()),
  };
}

/** The notes do not have the time at which a key was created that the table has lost. */
const UNKNOWN = 0;

/**
 * Settings whose changes are noted: a retirement before it is written, so that a key retired in the table is always in the notes; a new key
 * afterwards, so that a noted key was in the table. A key that the notes alone have left is listed as retired: a lost table gives its number
 * to no other.
 */
export function noteChanges(settings: WritableKeySettings, notes: KeyNotes): WritableKeySettings {
  return {
    async list(purpose, signal) {
      // Before the table, since another administrator may note a key in between.
      const [newest, retired] = await Promise.all([notes.newest(purpose), notes.retired(purpose)]);
      const records = await settings.list(purpose, signal);
      const lost = new Set([...retired, ...(newest === undefined ? [] : [newest])]);
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
