import type { RunDependencies } from '#functions/reports/improvement/work-run.ts';
import type { AnalysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import type {
  ImprovementStore,
  OpenRun,
  PinnedSource,
  RunKey,
  RunPins,
} from '#shared/improvement/records.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import * as operations from '#shared/platform/operations.ts';
import type { RevisionOrderAck, RevisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import { namesOf, repeats } from '#shared/platform/transport/answer.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import { improveRun, names, type RunChange } from './improvement-facts.ts';
import { openImprovementTable } from './improvement-table.ts';

const { tenantId, administrationId } = names;

/** What an owner returns instead of what it has. */
export type Refused = Pick<UpstreamFault, 'kind' | 'status'>;

/** One try to hand over an order. */
interface Handed {
  readonly module: 'bank' | 'blueprint';
  readonly order: RevisionOrderRequest;
  readonly idempotencyKey: string | undefined;
}

/** Everything around the worker in this process: owners with artifacts and receivers, table, bucket, queue and clock. */
export interface ImprovementWorld {
  /** The table, past every step. */
  readonly store: ImprovementStore;
  readonly dependencies: RunDependencies;
  readonly policy: AnalysisPolicy;
  /** The clock: epoch milliseconds, moved by tests alone. */
  now: number;
  /** Runs before each call of the function takes effect, with the id of the upstream operation, or the method of a store; its rejection fails the call. */
  step: (name: string) => Promise<void>;
  /** Bundles by tenant and digest. */
  readonly bundles: ReadonlyMap<string, Uint8Array>;
  /** Messages that were sent. */
  readonly sent: RunKey[];
  /** Every upstream call that was begun, by the id of its operation. */
  readonly calls: string[];
  /** Every order that reached a receiver. */
  readonly handed: Handed[];
  /** What the receivers hold, by the order's id. */
  readonly held: Map<string, RevisionOrderRequest>;
  /** What an artifact's owner returns under a ref from now on: other bytes, or a refusal. */
  readonly serve: (ref: string, answer: unknown, refused?: Refused) => void;
  /** What the receivers return for an order before they look at it; undefined: they take it. */
  receive: (order: RevisionOrderRequest) => Refused | Partial<RevisionOrderAck> | undefined;
  /** Records a run of these pins. */
  readonly create: (improvementRunId: string, pins: RunPins, createdAt?: number) => Promise<RunKey>;
  /** The runs that have not ended. */
  readonly open: () => Promise<readonly OpenRun[]>;
}

/** What a run is made of, with the bytes of its artifacts. */
export interface WorldRun {
  readonly pins: RunPins;
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
}

/**
 * The run of `improveRun`, with further sources beside its own.
 * @param sources how many there are in all
 */
export function runOf({ sources = 1, ...change }: RunChange & { readonly sources?: number } = {}): WorldRun {
  const { sourceFacts, artifacts } = improveRun(change);
  const { run, crosswalk, source } = sourceFacts;
  const further = Array.from({ length: sources - 1 }, (_, at): readonly [PinnedSource, Uint8Array] => {
    const sourceKey = `source-${String(at + 2).padStart(3, '0')}`;
    const ref = `crosswalk-${sourceKey}`;
    const bytes = Buffer.from(JSON.stringify({ ...crosswalk, crosswalkId: ref, sourceKey }));
    return [{ sourceKey, crosswalk: { ref, sha256: sha256Hex(bytes) }, comparison: null }, bytes];
  });
  return {
    pins: { ...run.pins, sources: [source, ...further.map(([pinned]) => pinned)] },
    artifacts: new Map([
      ...artifacts,
      ...further.map(([pinned, bytes]) => [pinned.crosswalk.ref, bytes] as const),
    ]),
  };
}

/** Opens a world with the artifacts of some runs, of which none is recorded yet. */
export async function openImprovementWorld(...runs: readonly WorldRun[]): Promise<ImprovementWorld> {
  const served = new Map<string, Uint8Array | Refused>(runs.flatMap(({ artifacts }) => [...artifacts]));
  const bundles = new Map<string, Uint8Array>();
  const { policy } = improveRun().sourceFacts;
  const { store } = await openImprovementTable();

  function receive(
    operation: UpstreamOperation,
    module: Handed['module'],
    asked: UpstreamCall<UpstreamOperation>,
  ): Answer {
    const { body, idempotencyKey } = asked;
    const order = operation.body?.parse(body) as RevisionOrderRequest;
    const { revisionOrderId } = order;
    world.handed.push({ module, order, idempotencyKey });
    const answer = world.receive(order) ?? {};
    if ('kind' in answer) return fault(operation, answer);
    const before = world.held.get(revisionOrderId);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(order))
      return fault(operation, { kind: 'conflict', status: 409 });
    world.held.set(revisionOrderId, order);
    const ack: RevisionOrderAck = {
      tenantId,
      revisionOrderId,
      receiptId: `receipt-of-${revisionOrderId}`,
      version: '1',
      decision: before === undefined ? 'accepted' : 'replayed',
      receivedAt: '2026-03-02T10:15:31Z',
      ...answer,
    };
    return answerOf(operation, asked, Buffer.from(JSON.stringify(ack)));
  }

  async function call(operation: UpstreamOperation, asked: UpstreamCall<UpstreamOperation>): Promise<Answer> {
    await world.step(operation.id);
    world.calls.push(operation.id);
    switch (operation) {
      case operations.readAlignmentSources:
      case operations.readAnalysisArtifact:
      case operations.readAlignmentCrosswalk: {
        // There is one list of sources.
        const { artifactRef, crosswalkId = 'alignment-sources' } = asked.path ?? {};
        return answerOf(
          operation,
          asked,
          served.get(artifactRef ?? crosswalkId) ?? { kind: 'not-found', status: 404 },
        );
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
    // SAFETY: every value has passed the row's own schema.
    call: (operation, asked) => call(operation, asked) as never,
    revalidate: () => Promise.reject(new Error('a worker asks for the whole')),
    pause: () => Promise.resolve(),
    trace: () => [],
  };
  const profile = { tenantId, baseUrl: 'https://platform.example', credential: secret('credential') };
  const stepped = Object.entries(store).map(([name, method]) => [
    name,
    async (...values: readonly unknown[]) => {
      await world.step(name);
      return (method as (...given: readonly unknown[]) => Promise<unknown>)(...values);
    },
  ]);

  const world: ImprovementWorld = {
    store,
    policy,
    now: Date.parse('2026-03-02T10:20:00Z'),
    step: () => Promise.resolve(),
    bundles,
    sent: [],
    calls: [],
    handed: [],
    held: new Map(),
    receive: () => undefined,
    serve(ref, answer, refused) {
      served.set(ref, refused ?? Buffer.from(JSON.stringify(answer)));
    },
    async create(improvementRunId, pins, createdAt = Date.parse('2026-03-02T10:15:30.331Z')) {
      const key = { tenantId, improvementRunId };
      await store.createRun({ ...key, administrationId, pins, createdAt });
      return key;
    },
    async open() {
      const open: OpenRun[] = [];
      for await (const run of store.listOpen()) open.push(run);
      return open;
    },
    dependencies: {
      store: {
        // SAFETY: the same methods, each after its step.
        ...(Object.fromEntries(stepped) as ImprovementStore),
        async *listOpen(of) {
          await world.step('listOpen');
          yield* store.listOpen(of);
        },
      },
      receipts: {
        async put(owner, { sha256, bytes }) {
          await world.step('put');
          if (sha256Hex(bytes) !== sha256) throw new Error('a bundle is named by its bytes');
          bundles.set(`${owner}/${sha256}`, bytes);
        },
        get: (owner, sha256) => Promise.resolve(bundles.get(`${owner}/${sha256}`)),
      },
      queue: {
        async send(run) {
          await world.step('send');
          world.sent.push({ tenantId: run.tenantId, improvementRunId: run.improvementRunId });
        },
      },
      policies: {
        read: () => Promise.reject(new Error('a worker knows its policy')),
        async readPinned(asking, { owner, id, checksum }) {
          await world.step('readPinned');
          const asked = canonicalJson([asking, owner, id, checksum]);
          const isPinned = asked === canonicalJson([tenantId, policy.visibility, policy.id, policy.checksum]);
          return ok(isPinned ? policy : undefined);
        },
      },
      profiles: {
        resolve: (asking) => Promise.resolve(asking === tenantId ? ok(profile) : err('missing' as const)),
        forget: () => false,
      },
      connect: () => platform,
      now: () => world.now,
    },
  };
  return world;
}

type Answer = Result<UpstreamAnswer<unknown>, UpstreamFault>;

function answerOf(
  operation: UpstreamOperation,
  call: UpstreamCall<UpstreamOperation>,
  found: Uint8Array | Refused,
): Answer {
  if ('kind' in found) return fault(operation, found);
  const { success, data: value } = operation.answer.safeParse(JSON.parse(Buffer.from(found).toString()));
  if (!success) return fault(operation, { kind: 'invalid', status: 200 });
  if (!repeats(operation, value, namesOf(call)))
    return fault(operation, { kind: 'wrong-entity', status: 200 });
  return ok({
    value,
    etag: undefined,
    status: 200,
    upstreamRequestId: undefined,
    bodyHash: sha256Hex(found),
  });
}

function fault({ service, id }: UpstreamOperation, refused: Refused): Answer {
  return err({ ...refused, service, operation: id, transient: refused.kind === 'unavailable' });
}
