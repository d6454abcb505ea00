import { randomBytes } from 'node:crypto';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import type {
  DataKeyMaker,
  DataKeyOpener,
  KeyChange,
  KeyRecord,
  WritableKeySettings,
} from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';

/** Settings in memory, for unit tests: the rules of `write` are those of the table. */
export function createMemoryKeySettings(): WritableKeySettings {
  const records = new Map<string, KeyRecord>();

  function holds(change: KeyChange): boolean {
    return change.kind === 'create'
      ? !records.has(idOf(change.record.purpose, change.record.kid))
      : records.get(idOf(change.purpose, change.kid))?.state === change.from;
  }

  function apply(change: KeyChange): void {
    if (change.kind === 'create') {
      records.set(idOf(change.record.purpose, change.record.kid), change.record);
      return;
    }
    const id = idOf(change.purpose, change.kid);
    const record = records.get(id);
    if (record === undefined) return;
    const { wrappedKey, ...rest } = record;
    const time = ({ active: 'activatedAt', opening: 'openingAt', retired: 'retiredAt' } as const)[change.to];
    records.set(id, {
      ...rest,
      ...(change.to === 'retired' || wrappedKey === undefined ? {} : { wrappedKey }),
      state: change.to,
      [time]: change.at,
      ...(change.leaked && { leaked: change.leaked }),
    });
  }

  return {
    list: (purpose) => Promise.resolve([...records.values()].filter((record) => record.purpose === purpose)),
    write: (changes) => {
      if (!changes.every(holds)) return Promise.resolve(false);
      changes.forEach(apply);
      return Promise.resolve(true);
    },
  };
}

/** A KMS in memory, for unit tests: a wrapped key is a random name for the key, and opens under its own context only. */
export function createMemoryKms(): DataKeyMaker & DataKeyOpener {
  const keys = new Map<string, { readonly key: Uint8Array; readonly context: string }>();
  return {
    make: (context) => {
      const wrapped = randomBytes(16);
      keys.set(wrapped.toString('hex'), {
        key: new Uint8Array(randomBytes(32)),
        context: canonicalJson(context),
      });
      return Promise.resolve(wrapped);
    },
    open: (wrapped, context) => {
      const entry = keys.get(Buffer.from(wrapped).toString('hex'));
      return entry?.context === canonicalJson(context)
        ? Promise.resolve(entry.key)
        : Promise.reject(new Error('InvalidCiphertextException'));
    },
  };
}

function idOf(purpose: KeyPurpose, kid: string): string {
  return `${purpose} ${kid}`;
}
