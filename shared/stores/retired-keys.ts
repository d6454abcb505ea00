import type { SSMClient } from '@aws-sdk/client-ssm';
import { formatInstant } from '#shared/kernel/instant.ts';
import type { WritableKeySettings } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { readGateFlags, writeGateParameter } from './gate-parameters.ts';

/** The retired keys of a stage in Systems Manager: `/<stage>/retired-keys/<purpose>/<kid>` is the time of the retirement. */
export interface RetiredKeys {
  note(purpose: KeyPurpose, kid: string, at: number): Promise<void>;
  list(purpose: KeyPurpose): Promise<ReadonlySet<string>>;
}

/**
 * A note outside the table of the ring, so that a restore of a lost table knows which keys never come back. Needs `ssm:PutParameter` to note
 * and `ssm:GetParametersByPath` to list. Throws what SSM throws.
 */
export function createRetiredKeys(client: SSMClient, stage: string): RetiredKeys {
  const path = (purpose: KeyPurpose): string => `/${stage}/retired-keys/${purpose}`;
  return {
    note: (purpose, kid, at) => writeGateParameter(client, `${path(purpose)}/${kid}`, formatInstant(at)),
    list: async (purpose) => new Set((await readGateFlags(client, path(purpose))).keys()),
  };
}

/** Settings whose retirements are noted first: a key that is retired in the table is always in the notes. */
export function noteRetirements(settings: WritableKeySettings, retired: RetiredKeys): WritableKeySettings {
  return {
    ...settings,
    async write(changes) {
      for (const change of changes) {
        if (change.kind === 'move' && change.to === 'retired')
          await retired.note(change.purpose, change.kid, change.at);
      }
      return settings.write(changes);
    },
  };
}
