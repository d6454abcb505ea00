import type { SSMClient } from '@aws-sdk/client-ssm';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { WritableKeySettings } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { readGateFlags, writeGateParameter } from './gate-parameters.ts';

/**
 * What is noted of a stage's key ring in Systems Manager, outside its table: `/<stage>/retired-keys/<purpose>/<kid>` is the time of a
 * retirement, `/<stage>/key-ring/<purpose>` that of the newest key.
 */
export interface KeyNotes {
  noteRetired(purpose: KeyPurpose, kid: string, at: number): Promise<void>;
  retired(purpose: KeyPurpose): Promise<ReadonlySet<string>>;
  noteMade(purpose: KeyPurpose, at: number): Promise<void>;
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
  return {
    noteRetired: (purpose, kid, at) =>
      writeGateParameter(client, `${retired(purpose)}/${kid}`, formatInstant(at)),
    retired: async (purpose) => new Set((await readGateFlags(client, retired(purpose))).keys()),
    noteMade: (purpose, at) => writeGateParameter(client, `${made}/${purpose}`, formatInstant(at)),
    made: async () => new Set((await readGateFlags(client, made)).keys()),
  };
}

/** Settings whose changes are noted: a retirement before it is written, so that a key retired in the table is always in the notes; a new key afterwards. */
export function noteChanges(settings: WritableKeySettings, notes: KeyNotes): WritableKeySettings {
  return {
    ...settings,
    async write(changes) {
      for (const change of changes) {
        if (change.kind === 'move' && change.to === 'retired')
          await notes.noteRetired(change.purpose, change.kid, change.at);
      }
      const isWritten = await settings.write(changes);
      for (const change of isWritten ? changes : []) {
        if (change.kind === 'create') await notes.noteMade(change.record.purpose, change.record.createdAt);
      }
      return isWritten;
    },
  };
}
