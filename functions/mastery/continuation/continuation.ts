import * as z from 'zod';
import { adaptiveRunState } from './run-state.ts';
import type { AdaptiveRunState } from './run-state.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import { openToken, sealToken } from '#shared/tokens/sealed-token.ts';
import type { TokenFault, TokenKind } from '#shared/tokens/sealed-token.ts';

/** A continuation opens for 24 hours after its issue [MA-060] … */
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** … and never later than seven days after the run's start, however often it is renewed. */
const ABSOLUTE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

const KIND: TokenKind = { purpose: 'continuation', typ: 'mastery-continuation+jwe' };

const sealed = z.strictObject({ issuedAt: z.int(), expiresAt: z.int(), state: adaptiveRunState });

/** A continuation as a client holds it, with what it opens to. */
export interface Continuation {
  readonly token: string;
  /** Epoch milliseconds; the token opens strictly before. */
  readonly expiresAt: number;
  readonly state: AdaptiveRunState;
}

/** Why a continuation was refused. Another tenant's is `unopenable` like any broken one; `expired`: the caller's own, too late. */
export type ContinuationFault = TokenFault | 'expired';

/** Seals a state into a token. The expiry counts from `issuedAt`, the control record's creation, so that a replay gains no time. */
export async function sealContinuation(
  keys: KeyRing,
  state: AdaptiveRunState,
  issuedAt: number,
): Promise<Continuation> {
  const expiresAt = Math.min(issuedAt + LIFETIME_MS, state.startedAt + ABSOLUTE_LIFETIME_MS);
  const content = { issuedAt, expiresAt, state } satisfies z.infer<typeof sealed>;
  const token = await sealToken(keys, KIND, content);
  return { token, expiresAt, state };
}

/** Opens a continuation for a tenant at a time (epoch milliseconds). Throws only when the key ring itself is unreachable. */
export async function openContinuation(
  keys: KeyRing,
  token: string,
  tenantId: string,
  now: number,
): Promise<Result<Continuation, ContinuationFault>> {
  const opened = await openToken(keys, KIND, token);
  if (!opened.ok) return opened;
  const content = sealed.safeParse(opened.value);
  if (!content.success) return err('unopenable');
  const { expiresAt, state } = content.data;
  if (state.tenantId !== tenantId) return err('unopenable');
  if (now >= expiresAt) return err('expired');
  return ok({ token, expiresAt, state });
}
