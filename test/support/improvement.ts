import type { RunDependencies } from '#functions/reports/improvement/work-run.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import type { PinnedMetric, PinnedSource, RunKey, RunPins } from '#shared/improvement/records.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderAck, RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { improveRun } from './improved-run.ts';
import type { ImprovedRun, RunChange } from './improved-run.ts';
import { createMemoryImprovementStore } from './improvement-store.ts';
import type { MemoryImprovementStore } from './improvement-store.ts';

/** What an owner answers instead of what it has. */
export type Refused = Pick<UpstreamFault, 'kind' | 'status'>;

/** One try to hand over an order. */
export interface Handed {
  readonly module: 'bank' | 'blueprint';
  readonly order: RevisionOrderRequest;
  readonly idempotencyKey: string | undefined;
}

/** Everything around the worker in memory: owners with artifacts and receivers, table, bucket, queue and clock. */
export interface ImprovementWorld {
  readonly store: MemoryImprovementStore;
  readonly dependencies: RunDependencies;
  readonly policy: AnalysisPolicy;
  /** The clock: epoch milliseconds, moved by tests alone. */
  now: number;
  /** Bundles by tenant and digest. */
  readonly bundles: ReadonlyMap<string, Uint8Array>;
  /** Messages that were sent. */
  readonly sent: RunKey[];
  /** Every upstream call that was begun, by the id of its operation. */
  readonly calls: string[];
  /** Every order that reached a receiver's door. */
  readonly handed: Handed[];
  /** What each receiver holds, by the order's id. */
  readonly held: ReadonlyMap<string, RevisionOrderRequest>;
  /** What an artifact's owner serves under a ref from now on: other bytes, or a refusal. */
  readonly serve: (ref: string, answer: unknown, refused?: Refused) => void;
  /** What the receivers answer an order with, before they look at it; undefined: as they should. */
  receive: (order: RevisionOrderRequest) => Refused | Partial<RevisionOrderAck> | undefined;
  /** Records a run of these pins. */
  readonly create: (improvementRunId: string, pins: RunPins, createdAt?: number) => Promise<RunKey>;
}

/** What a run is made of, with the bytes of its artifacts. */
export interface WorldRun {
  readonly pins: RunPins;
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
}

const TENANT = 'tenant-a';
const { policy } = improveRun().sourceFacts;

/**
 * A run to be worked on: what `improveRun` has found, with further sources beside its own.
 * @param sources how many there are in all
 */
export function runOf(
  change: RunChange & { readonly sources?: number; readonly metrics?: readonly PinnedMetric[] } = {},
): WorldRun {
  const improved: ImprovedRun = improveRun(change);
  const { pins } = improved.sourceFacts.run;
  const artifacts = new Map(improved.artifacts);
  const [first] = pins.sources;
  if (first === undefined) throw new Error('the improved run has a source');
  const model = JSON.parse(Buffer.from(artifacts.get(first.crosswalk.ref) ?? []).toString()) as object;
  const further = Array.from({ length: (change.sources ?? 1) - 1 }, (_, at): PinnedSource => {
    const name = `source-${String(at + 2).padStart(3, '0')}`;
    const bytes = Buffer.from(
      JSON.stringify({ ...model, crosswalkId: `crosswalk-${name}`, sourceKey: name }),
    );
    artifacts.set(`crosswalk-${name}`, bytes);
    return {
      sourceKey: name,
      crosswalk: { ref: `crosswalk-${name}`, sha256: sha256Hex(bytes) },
      comparison: null,
    };
  });
  return {
    pins: { ...pins, sources: [first, ...further], metrics: change.metrics ?? pins.metrics },
    artifacts,
  };
}

/** The metrics of a run of which only these are available. */
export function onlyMetrics({ pins }: WorldRun, names: readonly RunMetric[]): readonly PinnedMetric[] {
  return pins.metrics.map((pinned) =>
    names.includes(pinned.metric)
      ? pinned
      : {
          metric: pinned.metric,
          status: 'unavailable',
          reasonCode: 'owner_artifact_missing',
          artifact: null,
        },
  );
}

/**
 * @param step stands for the way to everything outside the function: it runs before each call takes effect, and ends it by rejecting
 */
export function openImprovementWorld(
  runs: readonly WorldRun[],
  step: (name: string) => Promise<void> = () => Promise.resolve(),
): ImprovementWorld {
  const served = new Map<string, Uint8Array | Refused>(runs.flatMap(({ artifacts }) => [...artifacts]));
  const bundles = new Map<string, Uint8Array>();
  const held = new Map<string, RevisionOrderRequest>();

  function answerOf(operation: UpstreamOperation, found: Uint8Array | Refused): Answer {
    if ('kind' in found) return fault(operation, found);
    const parsed = operation.answer.safeParse(JSON.parse(Buffer.from(found).toString()));
    if (!parsed.success) return fault(operation, { kind: 'malformed', status: 200 });
    return ok({
      value: parsed.data,
      etag: undefined,
      status: 200,
      upstreamRequestId: undefined,
      bodyHash: sha256Hex(found),
    });
  }

  function receive(
    operation: UpstreamOperation,
    module: Handed['module'],
    { body, idempotencyKey }: UpstreamCall<UpstreamOperation>,
  ): Answer {
    const order = operation.body?.parse(body) as RevisionOrderRequest;
    world.handed.push({ module, order, idempotencyKey });
    const answer = world.receive(order) ?? {};
    if ('kind' in answer) return fault(operation, answer);
    const before = held.get(order.revisionOrderId);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(order))
      return fault(operation, { kind: 'conflict', status: 409 });
    held.set(order.revisionOrderId, order);
    const ack: RevisionOrderAck = {
      tenantId: TENANT,
      revisionOrderId: order.revisionOrderId,
      receiptId: `receipt-of-${order.revisionOrderId}`,
      version: '1',
      decision: before === undefined ? 'accepted' : 'replayed',
      receivedAt: '2026-03-02T10:15:31Z',
      ...answer,
    };
    return answerOf(operation, Buffer.from(JSON.stringify(ack)));
  }

  async function call(operation: UpstreamOperation, asked: UpstreamCall<UpstreamOperation>): Promise<Answer> {
    await step(operation.id);
    world.calls.push(operation.id);
    switch (operation) {
      case operations.readAnalysisArtifact:
      case operations.readAlignmentCrosswalk: {
        const { artifactRef, crosswalkId = '' } = asked.path ?? {};
        const found = served.get(artifactRef ?? crosswalkId);
        return answerOf(operation, found ?? { kind: 'not-found', status: 404 });
      }
      case operations.orderBankRevision:
        return receive(operation, 'bank', asked);
      case operations.orderBlueprintRevision:
        return receive(operation, 'blueprint', asked);
      default:
        throw new Error(`a worker does not call ${operation.id}`);
    }
  }

  const platform: Platform = {
    tenantId: TENANT,
    // SAFETY: every value has passed the row's own schema.
    call: (operation, asked) => call(operation, asked) as never,
    revalidate: () => Promise.reject(new Error('a worker asks for the whole')),
    pause: () => Promise.resolve(),
    trace: () => [],
  };
  const store = createMemoryImprovementStore(() => step('store'));
  const profile = { tenantId: TENANT, baseUrl: 'https://platform.example', credential: secret('credential') };

  const world: ImprovementWorld = {
    store,
    policy,
    now: Date.parse('2026-03-02T10:20:00Z'),
    bundles,
    sent: [],
    calls: [],
    handed: [],
    held,
    receive: () => undefined,
    serve(ref, answer, refused) {
      served.set(ref, refused ?? Buffer.from(JSON.stringify(answer)));
    },
    async create(improvementRunId, pins, createdAt = Date.parse('2026-03-02T10:15:30.331Z')) {
      const administrationId = 'administration-spring-5';
      const key = { tenantId: TENANT, improvementRunId };
      await store.createRun({ ...key, administrationId, pins, createdAt });
      return key;
    },
    dependencies: {
      store,
      receipts: {
        async put(tenantId, { sha256, bytes }) {
          await step('receipts');
          if (sha256Hex(bytes) !== sha256) throw new Error('a bundle is named by its bytes');
          bundles.set(`${tenantId}/${sha256}`, bytes);
        },
        get: (tenantId, sha256) => Promise.resolve(bundles.get(`${tenantId}/${sha256}`)),
      },
      queue: {
        async send(run) {
          await step('queue');
          world.sent.push({ tenantId: run.tenantId, improvementRunId: run.improvementRunId });
        },
      },
      policies: {
        read: () => Promise.reject(new Error('a worker knows its policy')),
        async readPinned(tenantId, { owner, id, checksum }) {
          await step('policies');
          const isPinned =
            tenantId === TENANT &&
            owner === policy.visibility &&
            id === policy.id &&
            checksum === policy.checksum;
          return ok(isPinned ? policy : undefined);
        },
      },
      profiles: {
        resolve: (tenantId) =>
          Promise.resolve(
            tenantId === TENANT ? ok(profile) : err({ kind: 'missing' as const, transient: false }),
          ),
        forget: () => false,
      },
      connect: () => platform,
      now: () => world.now,
    },
  };
  return world;
}

type Answer = Result<UpstreamAnswer<unknown>, UpstreamFault>;

function fault({ service, id }: UpstreamOperation, refused: Refused): Answer {
  return err({ ...refused, service, operation: id, transient: refused.kind === 'unavailable' });
}
