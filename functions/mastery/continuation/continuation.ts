import * as z from 'zod';
import { adaptiveRunState, type AdaptiveRunState } from './run-state.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { KeyRing } from '#shared/keys/key-ring.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { problem } from '#shared/problems/registry.ts';
import { openToken, sealToken, type TokenKind } from '#shared/tokens/sealed-token.ts';

/** A continuation is valid for 24 hours after its issue [MA-060] … */
export const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** … and at most seven days after the run's start, however often it is renewed. */
export const ABSOLUTE_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

const KIND: TokenKind = { purpose: 'continuation', typ: 'mastery-continuation+jwe' };

const sealed = z.strictObject({ issuedAt: z.int(), expiresAt: z.int(), state: adaptiveRunState });

/** A continuation token, with its expiry. */
export interface Continuation {
  readonly token: string;
  /** Epoch milliseconds; the token is valid strictly before. */
  readonly expiresAt: number;
  readonly state: AdaptiveRunState;
}

/** Seals a state into a token. The expiry counts from `issuedAt`, the creation of the idempotency record, so that a replay gains no time. */
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

/**
 * Opens a continuation for a tenant at a time (epoch milliseconds). Returns 400 if it is malformed or expired, and one hidden 404 for anything else,
 * including another tenant's token [MA-061, MA-159]. Throws only if the key ring itself is unreachable.
 */
export async function openContinuation(
  keys: KeyRing,
  token: string,
  tenantId: string,
  now: number,
): Promise<Result<Continuation, Problem>> {
  const opened = await openToken(keys, KIND, token);
  if (!opened.ok && opened.error === 'malformed')
    return err(invalidToken('malformed', 'must be a continuation token of this service'));
  const content = sealed.safeParse(opened.ok ? opened.value : undefined);
  if (!content.success || content.data.state.tenantId !== tenantId)
    return err(problem('mastery', 'resource-not-found', 404));
  const { expiresAt, state } = content.data;
  if (now >= expiresAt) return err(invalidToken('expired', 'has expired; start a new run'));
  return ok({ token, expiresAt, state });
}

function invalidToken(reason: string, message: string): Problem {
  const invalidParams = [{ name: '/body/continuationToken', reason, message }];
  return problem('mastery', 'invalid-request', 400, { invalidParams });
}
