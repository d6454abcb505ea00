export const keyPurposes = ['continuation', 'cursor', 'idempotency', 'pseudonym', 'receipt-link'] as const;

/** The purpose of a data key. A function may unwrap only the purposes that its route's grants name. */
export type KeyPurpose = (typeof keyPurposes)[number];

/**
 * The purposes that a schedule may rotate. The other purposes make values that must be found again (the key of an idempotency record, the pseudonym
 * of a run): a new key breaks the link to what is stored, which only a leak justifies.
 */
export const scheduledPurposes = [
  'continuation',
  'cursor',
  'receipt-link',
] as const satisfies readonly KeyPurpose[];

/** `pending → active → opening → retired`: only `active` seals; `pending`, `active` and `opening` open; `retired` does neither. */
export const keyStates = ['pending', 'active', 'opening', 'retired'] as const;
export type KeyState = (typeof keyStates)[number];

/** 256-bit data keys by purpose and id. Its calls throw if settings or KMS are unreachable: a defect of the deployment (500), not of the caller. */
export interface KeyRing {
  /** Returns the key to seal with. */
  active(purpose: KeyPurpose): Promise<{ readonly kid: string; readonly key: Uint8Array }>;
  /** Returns the key to open with; undefined if the id is unknown or retired. */
  open(purpose: KeyPurpose, kid: string): Promise<Uint8Array | undefined>;
}
