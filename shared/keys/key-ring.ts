export const keyPurposes = ['continuation', 'cursor', 'idempotency', 'pseudonym', 'receipt-link'] as const;

/** What a data key is for. A function may unwrap only the purposes that its route's grants name. */
export type KeyPurpose = (typeof keyPurposes)[number];

/**
 * What a schedule may rotate. The other purposes make values that must be found again (the key of an idempotency record, the
 * pseudonym of a run): a new key there breaks the link to what is stored, which only a leak is worth.
 */
export const scheduledPurposes = [
  'continuation',
  'cursor',
  'receipt-link',
] as const satisfies readonly KeyPurpose[];

/** `pending → active → opening → retired`: only `active` seals; `pending`, `active` and `opening` open; `retired` does nothing. */
export const keyStates = ['pending', 'active', 'opening', 'retired'] as const;
export type KeyState = (typeof keyStates)[number];

/** 256-bit data keys by purpose and id. Throws when settings or KMS are unreachable: that is a defect of the deployment (500), not of the caller. */
export interface KeyRing {
  /** The key to seal with. */
  active(purpose: KeyPurpose): Promise<{ readonly kid: string; readonly key: Uint8Array }>;
  /** The key to open with; undefined when the id is unknown or retired. */
  open(purpose: KeyPurpose, kid: string): Promise<Uint8Array | undefined>;
}
