import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import * as z from 'zod';
import { analyzeRun } from '#shared/contract/background.ts';
import { improvementRun, type ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import { analyzeAdministration } from '#shared/contract/reports/routes/analyze-administration.ts';
import { readImprovementRun } from '#shared/contract/reports/routes/read-improvement-run.ts';
import { canonicalPath } from '#shared/idempotency/request-identity.ts';
import { writeRunMessage } from '#shared/improvement/run-message.ts';
import type { RunKey, RunProgress } from '#shared/improvement/records.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { revisionOrderAck, revisionOrderRequest } from '#shared/platform/owners/revision-orders.ts';
import type { ReportsSeed } from '#local/platform/tenant-state.ts';
import type { ComparisonArtifact, MetricArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import { openControlRecords, type Controlled } from './control-records.ts';
import type { GatewayCall, GatewayReply } from './gateway-call.ts';
import { openImprovementRecords, undeclaredIn, type ImprovementRecords } from './improvement-records.ts';
import { stateOf } from './platform-control.ts';
import { setProfileParameter } from './profile-parameter.ts';
import { isReplayed, openReportsCaller, reportsAnswerOf, type ReportsCaller } from './reports-call.ts';
import type { TestStack } from './stack.ts';

const heldOrders = z.record(z.string(), z.object({ order: revisionOrderRequest, ack: revisionOrderAck }));
const changedEntity = z.object({ entity: z.object({}).loose() });

/** An order as its receiver holds it. */
export type Received = z.infer<typeof heldOrders>[string] & { readonly module: 'bank' | 'blueprint' };

/** What the owners hold of an administration when the tests begin. */
interface Held {
  readonly administration: ReportsSeed['administrations'][number];
  readonly analysis: ReportsSeed['analyses'][number];
  readonly sourceSet: ReportsSeed['alignmentSources'][number];
  readonly artifactOf: (metric: string) => MetricArtifact | undefined;
  /** Each source with its crosswalk and its comparison: absent where none is due, null where one is and Analytics has none. */
  readonly sources: readonly {
    readonly sourceKey: string;
    readonly crosswalk: AlignmentCrosswalk;
    readonly comparison: ComparisonArtifact | null | undefined;
  }[];
}

/** One request to analyze an administration, which can be sent as often as wanted under the same key. */
export interface Analysis extends Controlled {
  readonly key: string;
  readonly send: (changes?: GatewayCall) => Promise<GatewayReply>;
  /** Sends it and fails the test unless it succeeds. */
  readonly succeed: (changes?: GatewayCall) => Promise<Analyzed>;
}

/** A run as a request has been answered with it. */
interface Analyzed {
  readonly run: ImprovementRun;
  readonly replayed: boolean;
}

/** A success, held against the contract. */
export function analyzed(reply: GatewayReply): Analyzed {
  return { replayed: isReplayed(reply), run: improvementRun.parse(JSON.parse(reply.text)) };
}

/** The improvement runs of one tenant on a stack. */
export interface ImprovementRuns {
  readonly caller: ReportsCaller;
  readonly records: ImprovementRecords;
  /** Id of an administration by its name in the seed. */
  readonly administration: (name: string) => string;
  readonly held: (name: string) => Held;
  readonly request: (administrationId: string, key?: string) => Analysis;
  /** Begins a run, and fails the test when there is none. */
  readonly analyze: (administrationId: string, key?: string) => Promise<RunKey>;
  /** Names another analysis policy in the tenant's service profile, or none, and lets the functions read it anew. */
  readonly choosePolicy: (analysisPolicyId: string | undefined) => Promise<void>;
  /** Asks for how far a run is. */
  readonly ask: (improvementRunId: string, call?: GatewayCall) => Promise<GatewayReply>;
  /** The run as the reports service shows it, held against its contract. */
  readonly read: (run: RunKey) => Promise<ImprovementRun>;
  readonly progress: (run: RunKey) => Promise<RunProgress>;
  /** Puts a run's message on the queue. */
  readonly sendMessage: (run: RunKey) => void;
  /** Lets a run stand still for longer than the sweeper waits. */
  readonly leaveAlone: (run: RunKey) => Promise<void>;
  /** What both receivers hold of an administration, by order id. */
  readonly received: (administrationId: string) => Promise<ReadonlyMap<string, Received>>;
  /**
   * Fails unless runs have ended complete, with everything there once: each order recorded in each run that found it, acknowledged, and once
   * at its receiver with what it was recorded to supersede; nothing in the table that does not belong there; no message left over.
   */
  readonly endedWell: (administrationId: string, ...runs: readonly RunKey[]) => Promise<void>;
  /** Changes a member of what an owner holds; returns the SHA-256 of the bytes that it returns from then on. */
  readonly change: (entity: string, id: string, pointer: string, value: unknown) => Promise<string>;
  /** Has Analytics publish the later analysis that the seed has of an administration. */
  readonly publishLater: (administrationId: string) => Promise<void>;
  /** Ends the worker environments. Returns how many were at work. */
  readonly killWorkers: () => Promise<number>;
}

export function openImprovementRuns(
  stack: Pick<
    TestStack,
    'urls' | 'defer' | 'tokenFor' | 'seed' | 'seededTenants' | 'control' | 'improvement' | 'killWorkers'
  >,
  tenantId = 'tenant-aurora',
): ImprovementRuns {
  const caller = openReportsCaller(stack);
  const records = openImprovementRecords(stack);
  const { store } = records;

  const control = openControlRecords(stack);
  const { method, path, operationId } = analyzeAdministration;

  const request: ImprovementRuns['request'] = (administrationId, key = randomUUID()) => {
    const identified = {
      ...{ tenantId, method, canonicalPath: canonicalPath(path, { administrationId }) },
      ...{ idempotencyKey: key, ifMatch: undefined, body: undefined },
    };
    const send: Analysis['send'] = (changes) =>
      caller.call(analyzeAdministration, { tenantId, key, path: { administrationId }, ...changes });
    return {
      key,
      send,
      succeed: async (changes) => analyzed(await send(changes)),
      ...control.of(identified),
    };
  };

  const ask: ImprovementRuns['ask'] = (improvementRunId, call) =>
    caller.call(readImprovementRun, { tenantId, path: { improvementRunId }, ...call });

  const change: ImprovementRuns['change'] = async (entity, id, pointer, value) => {
    const changes = [{ pointer, value }];
    const changed = await stack.control('PATCH', 'entities', { tenantId, entity, id, changes });
    return sha256Hex(JSON.stringify(changedEntity.parse(changed).entity));
  };

  const progress: ImprovementRuns['progress'] = async (run) => {
    const found = await store.readProgress(run);
    if (found === undefined) throw new Error('there is no such run');
    return found;
  };

  const received: ImprovementRuns['received'] = async (administrationId) => {
    const { entities } = await stateOf(stack, tenantId);
    const all = (['bank', 'blueprint'] as const).flatMap((module) =>
      Object.values(heldOrders.parse(entities[`${module}.revision_order`])).map((held) => ({
        module,
        ...held,
      })),
    );
    const ours = all.filter(({ order }) => order.administrationId === administrationId);
    const byId = new Map(ours.map((received) => [received.order.revisionOrderId, received]));
    // An order that both had taken would be there twice.
    expect(byId.size).toBe(ours.length);
    return byId;
  };

  const administrationOf = (name: string): string => {
    const { special, administrations } = caller.fixtures(tenantId);
    const listed = stack.seed.reports.fixtures.administrations.indexOf(name);
    const id = listed < 0 ? special.administrations[name] : administrations[listed];
    if (id === undefined) throw new Error(`the seed has no administration ${name}`);
    return id;
  };

  return {
    caller,
    records,
    administration: administrationOf,
    held(name) {
      const { reports } = stack.seededTenants.get(tenantId)!.platform;
      const id = administrationOf(name);
      const administration = reports.administrations.find(({ administrationId }) => administrationId === id)!;
      const { contentTestSpecId: spec, contentTestSpecVersion: version } = administration;
      const analysis = reports.analyses.find(({ administrationId }) => administrationId === id)!;
      const sourceSet = reports.alignmentSources.find(
        ({ testSpecId, testSpecVersion }) => testSpecId === spec && testSpecVersion === version,
      )!;
      const artifact = (ref: string | undefined) =>
        reports.analysisArtifacts.find(({ artifactRef }) => artifactRef === ref);
      return {
        ...{ administration, analysis, sourceSet },
        artifactOf(metric) {
          const entry = analysis.metrics.find((one) => one.metric === metric);
          const found = artifact(entry?.artifact?.artifactRef);
          return found?.kind === 'metric' ? found : undefined;
        },
        sources: sourceSet.sources.map(({ sourceKey, crosswalkId }) => {
          const due = analysis.comparisons.find((one) => one.sourceKey === sourceKey);
          const found = artifact(due?.artifact?.artifactRef);
          return {
            sourceKey,
            crosswalk: reports.alignmentCrosswalks.find((one) => one.crosswalkId === crosswalkId)!,
            comparison: due === undefined ? undefined : found?.kind === 'comparison' ? found : null,
          };
        }),
      };
    },
    request,
    async analyze(administrationId, key) {
      const { run } = await request(administrationId, key).succeed();
      return { tenantId, improvementRunId: run.improvementRunId };
    },
    choosePolicy: (value) =>
      setProfileParameter(stack, operationId, tenantId, { name: 'ANALYSIS_POLICY_ID', value }),
    ask,
    async read({ improvementRunId }) {
      const reply = await ask(improvementRunId);
      expect(reportsAnswerOf(reply)).toBe('200');
      return improvementRun.parse(JSON.parse(reply.text));
    },
    progress,
    sendMessage: ({ improvementRunId }) =>
      stack.improvement.send(writeRunMessage({ tenantId, improvementRunId })),
    leaveAlone: (run) => store.beginRun(run, 0, Date.now() - 16 * 60_000),
    received,
    async endedWell(administrationId, ...runs) {
      await stack.improvement.settled();
      const held = await received(administrationId);
      const acknowledged = new Set<string>();
      for (const run of runs) {
        const { run: record, orders, evidence } = await progress(run);
        expect(record.state).toMatch(/^completed/);
        expect(record.receipt).toBeDefined();
        expect(evidence.filter(({ key }) => key.startsWith('source:'))).toHaveLength(
          record.pins.sources.length,
        );
        for (const order of orders) {
          const there = held.get(order.revisionOrderId);
          if (order.ack === null) {
            expect(order.status).toBe('superseded');
            continue;
          }
          acknowledged.add(order.revisionOrderId);
          expect(['accepted', 'replayed', 'rejected', 'superseded']).toContain(order.status);
          expect(there).toMatchObject({
            module: order.targetModule,
            ack: { receiptId: order.ack.receiptId },
          });
          expect(there?.order.supersedesRevisionOrderId).toBe(order.supersedesRevisionOrderId);
        }
      }
      // Nothing that a receiver has is unacknowledged here, and nothing was sent under two ids.
      expect([...held.keys()].filter((id) => !acknowledged.has(id))).toEqual([]);
      const contents = [...held.values()].map(({ order }) =>
        canonicalJson({ ...order, revisionOrderId: null }),
      );
      expect(new Set(contents).size).toBe(contents.length);
      expect(undeclaredIn(await records.items())).toEqual([]);
    },
    change,
    async publishLater(administrationId) {
      const { laterAnalyses } = stack.seededTenants.get(tenantId)!.platform.reports;
      const later = laterAnalyses.get(administrationId)![0]!;
      for (const member of ['version', 'metrics', 'comparisons'] as const)
        await change('analytics.administration_analysis', administrationId, `/${member}`, later[member]);
    },
    killWorkers: () => stack.killWorkers(analyzeRun.operationId),
  };
}
