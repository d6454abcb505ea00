import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import * as z from 'zod';
import { runState } from '#functions/mastery/run/state.ts';
import type { RunState } from '#functions/mastery/run/state.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';

/** A continuation opens for 24 hours after its issue [MA-060] … */
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** … and never later than seven days after the run's start, however often it is renewed. */
const ABSOLUTE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

const TYPE = 'mastery-continuation+jwe';

const protectedHeader = z.strictObject({
  alg: z.literal('dir'),
  enc: z.literal('A256GCM'),
  kid: z.string().min(1),
  typ: z.literal(TYPE),
});

const sealed = z.strictObject({ issuedAt: z.int(), expiresAt: z.int(), state: runState });

/** A continuation as a client holds it, with what it opens to. */
export interface Continuation {
  readonly token: string;
  /** Epoch milliseconds; the token opens strictly before. */
  readonly expiresAt: number;
  readonly state: RunState;
}

/**
 * Why a continuation was refused. `malformed`: not a token of this service's form. `unopenable`: unknown or retired key, broken tag, or
 * another tenant's: one answer for all, so that nothing can be learnt from it. `expired`: the caller's own, too late.
 */
export type ContinuationFault = 'malformed' | 'unopenable' | 'expired';

/** Seals a state as compact JWE (RFC 7516), `dir` with A256GCM. The expiry counts from `issuedAt`, the control record's creation, so that a replay gains no time. */
export async function sealContinuation(
  keys: KeyRing,
  state: RunState,
  issuedAt: number,
): Promise<Continuation> {
  const expiresAt = Math.min(issuedAt + LIFETIME_MS, state.startedAt + ABSOLUTE_LIFETIME_MS);
  const { kid, key } = await keys.active('continuation');
  const payload = new TextEncoder().encode(
    JSON.stringify({ issuedAt, expiresAt, state } satisfies z.infer<typeof sealed>),
  );
  const token = await new CompactEncrypt(payload)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid, typ: TYPE })
    .encrypt(key);
  return { token, expiresAt, state };
}

/** Opens a continuation for a tenant at a time (epoch milliseconds). Throws only when the key ring itself is unreachable. */
export async function openContinuation(
  keys: KeyRing,
  token: string,
  tenantId: string,
  now: number,
): Promise<Result<Continuation, ContinuationFault>> {
  const header = readHeader(token);
  if (header === undefined) return err('malformed');
  if (!isCanonical(token)) return err('unopenable');
  const key = await keys.open('continuation', header.kid);
  if (key === undefined) return err('unopenable');
  const payload = await decrypt(token, key);
  if (payload === undefined) return err('unopenable');
  const content = sealed.safeParse(JSON.parse(payload));
  if (!content.success) return err('unopenable');
  const { expiresAt, state } = content.data;
  if (state.tenantId !== tenantId) return err('unopenable');
  if (now >= expiresAt) return err('expired');
  return ok({ token, expiresAt, state });
}

/** The protected header when it is exactly ours: `zip`, `crit` and every other addition are refused before any key is looked up. */
function readHeader(token: string): z.infer<typeof protectedHeader> | undefined {
  try {
    return protectedHeader.parse(decodeProtectedHeader(token));
  } catch {
    return undefined;
  }
}

/** Unused bits at the end of a part open just as well; a token has one spelling only. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function decrypt(token: string, key: Uint8Array): Promise<string | undefined> {
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    });
    return new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
  } catch {
    return undefined;
  }
}
