import * as z from 'zod';
import { hashCanonical, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { formatInstant } from '#shared/kernel/instant.ts';
import * as operations from '#shared/platform/operations.ts';
import type {
  Attempt,
  DeliverySessionRequest,
  OfferedSession,
  RuntimeData,
} from '#shared/platform/owners/qti.ts';
import { findAttempt } from '../attempts.ts';
import { refuse, serve } from '../route.ts';
import type { OwnerAnswer, OwnerRefusal, OwnerRequest, OwnerRoute } from '../route.ts';
import { serveEdition, serveEntity } from '../serve-edition.ts';
import type { HeldSession, QtiConduct, TenantState } from '../tenant-state.ts';

/** The player's call [MA-030]: not an operation of the services, so no row of theirs. */
const SCORE_ITEM_ATTEMPT = 'qti.score_item_attempt';

/** A dichotomous outcome, exactly. */
const attemptRequest = z.strictObject({
  outcomes: z.strictObject({ SCORE: z.union([z.literal(0), z.literal(1)]) }),
});
type AttemptRequest = z.infer<typeof attemptRequest>;

/** QTI: immutable artifact versions, delivery sessions and attempts. */
export const qtiRoutes: readonly OwnerRoute[] = [
  serveEntity(
    operations.readAdaptivePoolRoot,
    [
      '/artifactVersionId',
      '/artifactId',
      '/packageId',
      '/qtiIdentifier',
      '/itemRefs/0/artifactVersionId',
      '/itemRefs/0/identifier',
    ],
    ({ tenant, path: { artifactVersionId = '' } }) => tenant.artifacts.get(artifactVersionId),
    {
      next: (entity) => ({ ...entity, packageHash: sha256Hex(entity.packageHash) }),
      previous: (entity) => ({
        ...entity,
        artifactVersionId: `${entity.artifactVersionId}-previous`,
        packageHash: sha256Hex(`previous ${entity.packageHash}`),
      }),
    },
  ),
  serve(operations.readCandidateRuntime, {
    identities: ['/candidateRef', '/sessions/0/rootArtifactVersionId'],
    handle: ({ tenant, path }) => ({ status: 200, body: runtime(tenant, path['candidateRef'] ?? '') }),
    stale: ({ tenant, path }) => ({ status: 200, body: earlierRuntime(tenant, path['candidateRef'] ?? '') }),
  }),
  serve(operations.offerSelectedItem, {
    identities: ['/candidateRef', '/rootArtifactVersionId'],
    demandsIdempotencyKey: true,
    handle: offer,
  }),
  serveEdition(
    operations.readAttemptEvidence,
    ['/attemptId', '/candidateSourcedId', '/contentTestSpecId', '/resultRecordId'],
    ({ tenant, path: { attemptId = '' } }) => findAttempt(tenant, attemptId),
  ),
  serveEdition(
    operations.readForm,
    ['/qtiTestId', '/contentTestSpecId'],
    ({ tenant, path: { qtiTestId = '' } }) => tenant.forms.get(qtiTestId),
  ),
  {
    operation: SCORE_ITEM_ATTEMPT,
    method: 'POST',
    path: '/tenants/{tenantId}/qti/delivery-sessions/{deliverySessionId}/attempts',
    query: [],
    optionalQuery: [],
    caller: 'player',
    demandsIdempotencyKey: false,
    body: attemptRequest,
    tenantInAnswer: true,
    versioned: false,
    identities: [],
    // SAFETY: the server hands over only bodies that `attemptRequest` has parsed.
    handle: (request) => score(request as OwnerRequest<AttemptRequest>),
    precheck: undefined,
    drift: undefined,
    stale: undefined,
    foreign: undefined,
  },
];

function offer({
  tenant,
  body,
  idempotencyKey,
  now,
}: OwnerRequest<DeliverySessionRequest>): OwnerAnswer<OfferedSession> | OwnerRefusal {
  const bodyHash = hashCanonical(body);
  const earlier = tenant.offers.get(idempotencyKey);
  const held = earlier === undefined ? undefined : tenant.sessions.get(earlier.deliverySessionId);
  if (earlier !== undefined && held !== undefined) {
    if (earlier.bodyHash !== bodyHash) return refuse(409, 'the Idempotency-Key was used for another offer');
    return { status: 200, body: offered(tenant, held) };
  }
  const defect = snapshotDefect(tenant, body);
  if (defect !== undefined) return refuse(422, defect);
  const open = sessionsOf(tenant, body.candidateRef).filter(isOpen);
  if (open.some((held) => refuses(tenant, held, body))) {
    return refuse(409, 'the candidate holds another open delivery session');
  }
  const deliverySessionId = deterministicUuid('delivery-session', tenant.tenantId, idempotencyKey);
  const created: HeldSession = {
    candidateRef: body.candidateRef,
    session: {
      deliverySessionId,
      rootArtifactVersionId: body.rootArtifactVersionId,
      status: 'open',
      createdAt: qtiTime(tenant, now),
      deliverySnapshot: body.deliverySnapshot,
      attempts: [],
    },
  };
  tenant.sessions.set(deliverySessionId, created);
  tenant.offers.set(idempotencyKey, { bodyHash, deliverySessionId });
  tenant.runtimeChanges.push({ candidateRef: body.candidateRef, id: deliverySessionId });
  return { status: 201, body: offered(tenant, created) };
}

/** Returns what QTI would refuse in an offer: anything that is not this pool's own item. */
function snapshotDefect(tenant: TenantState, body: DeliverySessionRequest): string | undefined {
  const snapshot = body.deliverySnapshot;
  const item = tenant.artifacts.get(body.rootArtifactVersionId);
  if (item === undefined) return 'rootArtifactVersionId is unknown';
  const pool = tenant.artifacts.get(snapshot.poolArtifactVersionId);
  if (pool?.type !== 'assessment-test') return 'poolArtifactVersionId is not an assessment test';
  const ref = pool.itemRefs.find((candidate) => candidate.artifactVersionId === item.artifactVersionId);
  if (ref === undefined) return 'the artifact is not an item of the pool';
  if (ref.identifier !== snapshot.qtiIdentifier) return 'qtiIdentifier is not the item’s';
  if (pool.packageId !== snapshot.packageId || pool.packageHash !== snapshot.packageHash) {
    return 'packageId and packageHash are not the pool’s';
  }
  return undefined;
}

function offered(tenant: TenantState, held: HeldSession): OfferedSession {
  return {
    tenantId: tenant.tenantId,
    candidateRef: held.candidateRef,
    deliverySessionId: held.session.deliverySessionId,
    rootArtifactVersionId: held.session.rootArtifactVersionId,
    createdAt: held.session.createdAt,
  };
}

function score({
  tenant,
  path,
  body,
  now,
}: OwnerRequest<AttemptRequest>): OwnerAnswer<Record<string, unknown>> | OwnerRefusal {
  const held = tenant.sessions.get(path['deliverySessionId'] ?? '');
  if (held === undefined) return refuse(404, 'no such delivery session');
  const { session, candidateRef } = held;
  const attemptNumber = Math.max(0, ...session.attempts.map((attempt) => attempt.attemptNumber)) + 1;
  const attempt: Attempt = {
    attemptId: deterministicUuid(
      'attempt',
      tenant.tenantId,
      session.deliverySessionId,
      String(attemptNumber),
    ),
    attemptNumber,
    status: 'submitted',
    submittedAt: qtiTime(tenant, now),
  };
  const { deliverySessionId } = session;
  tenant.sessions.set(deliverySessionId, {
    candidateRef,
    session: { ...session, attempts: [...session.attempts, attempt] },
  });
  tenant.runtimeChanges.push({ candidateRef, id: attempt.attemptId });
  tenant.unscored.set(attempt.attemptId, { deliverySessionId, outcomes: body.outcomes });
  const names = {
    tenantId: tenant.tenantId,
    deliverySessionId,
    attemptId: attempt.attemptId,
    attemptNumber,
  };
  if (tenant.qtiConduct.scores === 'later') return { status: 201, body: { ...names, scored: false } };
  scoreAll(tenant, now);
  const scored = { scored: true, outcomes: body.outcomes, scoredAt: qtiTime(tenant, now) };
  return { status: 201, body: { ...names, ...scored } };
}

/** Changes how a tenant's QTI behaves; what waits for its score gets it once QTI scores at once. */
export function conductQti(tenant: TenantState, conduct: QtiConduct, now: string): void {
  tenant.qtiConduct = conduct;
  if (conduct.scores === 'at_once') scoreAll(tenant, now);
}

function scoreAll(tenant: TenantState, now: string): void {
  for (const [attemptId, { deliverySessionId, outcomes }] of tenant.unscored) {
    const held = tenant.sessions.get(deliverySessionId);
    if (held === undefined) continue;
    const attempts = held.session.attempts.map((attempt) =>
      attempt.attemptId === attemptId
        ? {
            ...attempt,
            status: 'scored',
            outcomes,
            scoredAt: qtiTime(tenant, now),
            processingTrace: {
              traceRef: deterministicUuid('trace', tenant.tenantId, attemptId),
              status: 'completed',
            },
          }
        : attempt,
    );
    tenant.sessions.set(deliverySessionId, {
      ...held,
      session: { ...held.session, status: 'scored', attempts },
    });
  }
  tenant.unscored.clear();
}

/** Returns the time by QTI's own clock. */
function qtiTime({ qtiConduct }: TenantState, now: string): string {
  return formatInstant(Date.parse(now) + qtiConduct.clockSkewMs);
}

function sessionsOf(tenant: TenantState, candidateRef: string): readonly HeldSession[] {
  return [...tenant.sessions.values()].filter((held) => held.candidateRef === candidateRef);
}

function isOpen({ session }: HeldSession): boolean {
  return !session.attempts.some((attempt) => attempt.status === 'scored');
}

/** Returns whether an open session blocks an offer to its candidate: one of the same run, or any where runs are not told apart. */
function refuses(
  tenant: TenantState,
  { session }: HeldSession,
  { deliverySnapshot }: DeliverySessionRequest,
) {
  return (
    !tenant.qtiConduct.runTags ||
    (session.deliverySnapshot?.runTag ?? null) === (deliverySnapshot.runTag ?? null)
  );
}

function runtime(tenant: TenantState, candidateRef: string): RuntimeData {
  const { runTags } = tenant.qtiConduct;
  return {
    tenantId: tenant.tenantId,
    candidateRef,
    sessions: sessionsOf(tenant, candidateRef).map(({ session: { deliverySnapshot, ...session } }) =>
      runTags ? { ...session, deliverySnapshot } : session,
    ),
  };
}

/** Returns the candidate's runtime before its last change: that session or attempt is not there yet. */
function earlierRuntime(tenant: TenantState, candidateRef: string): RuntimeData {
  const last = tenant.runtimeChanges.findLast((change) => change.candidateRef === candidateRef)?.id;
  const current = runtime(tenant, candidateRef);
  return {
    ...current,
    sessions: current.sessions
      .filter((session) => session.deliverySessionId !== last)
      .map((session) => {
        const attempts = session.attempts.filter((attempt) => attempt.attemptId !== last);
        return { ...session, attempts, status: attempts.length === 0 ? 'open' : session.status };
      }),
  };
}
