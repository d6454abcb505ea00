import type { KeyPurpose, KeyRing } from '#shared/keys/key-ring.ts';

/** A key ring in memory with one key a purpose: 32 bytes that differ by purpose. */
export function createMemoryKeyRing(): KeyRing {
  const kids: Readonly<Record<KeyPurpose, number>> = {
    continuation: 1,
    idempotency: 2,
    pseudonym: 3,
    cursor: 4,
    'receipt-link': 5,
  };
  const key = (purpose: KeyPurpose): Uint8Array => new Uint8Array(32).fill(kids[purpose]);
  return {
    active: (purpose) => Promise.resolve({ kid: `${purpose}-1`, key: key(purpose) }),
    open: (purpose, kid) => Promise.resolve(kid === `${purpose}-1` ? key(purpose) : undefined),
  };
}
