import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { alignSource } from '#functions/reports/analysis/alignment/align-source.ts';
import { deriveSourceOrders } from '#functions/reports/analysis/orders/derive-orders.ts';
import { openCursor, sealCursor } from '#functions/reports/cursor/cursor.ts';
import type { CursorUse } from '#functions/reports/cursor/cursor.ts';
import { localCredentials, localStage, localTableName } from '#shared/stage/local-stage.ts';
import { localRegion } from '#shared/stage/local-stage.ts';
import { localTenant } from '#local/seeds/tenants.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import { createDataKeyOpener } from '#shared/stores/kms.ts';
import { createKeySettings } from '#shared/stores/settings-table.ts';
import { analysisPolicy } from '#shared/contract/reports/analysis-policy.ts';
import { revisionOrderPage } from '#shared/contract/reports/revision-order.ts';
import { listCandidateReports, listRevisionOrders } from '#shared/contract/reports/routes.ts';
import type { PinnedSource, RunKey, RunRecord } from '#shared/improvement/records.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';
import { createKeyRing } from '#shared/keys/create-key-ring.ts';
import * as operations from '#shared/platform/operations.ts';
import type { ComparisonArtifact } from '#shared/platform/owners/analytics.ts';
import type { AlignmentCrosswalk } from '#shared/platform/owners/content.ts';
import type { GatewayCall, GatewayReply } from '#test/support/gateway-call.ts';
import { openImprovementRuns } from '#test/support/improvement-runs.ts';
import { ownerBytes } from '#test/support/owner-bytes.ts';
import { callsDuring, countedCalls } from '#test/support/platform-calls.ts';
import type { RecordedCall } from '#test/support/platform-calls.ts';
import { reportsAnswerOf, reportsProblemOf } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';

// From page to page of a run’s revision orders over whole functions: with what a cursor goes, and how much a page may rest on.

const tenantId = 'tenant-aurora';
const otherTenant = 'tenant-borealis';
const HOUR = 3_600_000;

const stack = useTestStack();
const runs = lazily(() => openImprovementRuns(stack, tenantId));
let run: RunKey;
let other: RunKey;
beforeAll(async () => {
  run = await runs.analyze(runs.administration('spring-gate'));
  other = await runs.analyze(runs.administration('school-gate'));
  await stack.improvement.settled();
});
afterEach(() => stack.control('DELETE', 'faults'));

const queryOf = (parameters: Readonly<Record<string, string>>): string =>
  `?${new URLSearchParams(parameters).toString()}`;

describe('a cursor', () => {
  const filters = { status: 'accepted', targetModule: 'bank', limit: '2' };
  const claims = () => ({
    administrationIds: [runs.administration('spring-gate'), runs.administration('school-gate')],
  });
  const ask = (parameters: Readonly<Record<string, string>>, call: GatewayCall = {}): Promise<GatewayReply> =>
    runs.caller.call(listRevisionOrders, {
      tenantId,
      claims: claims(),
      path: { improvementRunId: run.improvementRunId },
      query: queryOf(parameters),
      ...call,
    });
  const given = async (parameters: Readonly<Record<string, string>> = filters): Promise<string> => {
    const { nextCursor } = revisionOrderPage.parse(JSON.parse((await ask(parameters)).text));
    expect(nextCursor).not.toBeNull();
    return nextCursor!;
  };
  /** The one way in which a cursor is refused, whatever is wrong with it; no owner hears of it. */
  const refused = async (what: string, request: () => Promise<GatewayReply>): Promise<void> => {
    const { result, calls } = await callsDuring(stack, request);
    const { fieldErrors, retryable } = reportsProblemOf(result);
    expect([what, reportsAnswerOf(result), retryable, fieldErrors]).toEqual([
      what,
      '400 validation',
      false,
      [
        {
          pointer: '/query/cursor',
          code: 'not-allowed',
          message: 'must be an unexpired cursor of this very list',
        },
      ],
    ]);
    expect(calls).toEqual([]);
  };
  const accepted = async (what: string, reply: Promise<GatewayReply>): Promise<void> =>
    expect([what, reportsAnswerOf(await reply)]).toEqual([what, '200']);

  it('is opaque, continues as often as it is sent, and goes with a refreshed token [RP-208, RP-303]', async () => {
    const cursor = await given();
    expect(cursor).toMatch(/^[\w.-]{1,2048}$/);
    const texts = cursor.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    for (const known of [run.improvementRunId, tenantId, 'accepted', 'order_'])
      expect(texts.join('|')).not.toContain(known);
    const idsOf = ({ text }: GatewayReply) =>
      revisionOrderPage.parse(JSON.parse(text)).data.map(({ revisionOrderId }) => revisionOrderId);
    const [one, two] = [idsOf(await ask({ ...filters, cursor })), idsOf(await ask({ cursor, ...filters }))];
    expect(one).toHaveLength(2);
    expect(two).toEqual(one);
    await accepted(
      'a refreshed token',
      ask({ ...filters, cursor }, { claims: { ...claims(), expiresInSeconds: 120 } }),
    );
    await accepted(
      'the same claims in another order',
      ask({ ...filters, cursor }, { claims: { administrationIds: claims().administrationIds.toReversed() } }),
    );
  });

  it('goes with its own run, filters, limit and list alone [RP-208, RP-303]', async () => {
    const cursor = await given();
    const { status, targetModule, limit } = filters;
    const others: [string, Readonly<Record<string, string>>][] = [
      ['no filter', { limit }],
      ['a filter less', { status, limit }],
      ['the other filter less', { targetModule, limit }],
      ['another status', { ...filters, status: 'replayed' }],
      ['another module', { ...filters, targetModule: 'blueprint' }],
      ['another limit', { ...filters, limit: '3' }],
      ['the default limit', { status, targetModule }],
    ];
    for (const [what, parameters] of others) await refused(what, () => ask({ ...parameters, cursor }));
    const { improvementRunId } = other;
    await refused('another run', () => ask({ ...filters, cursor }, { path: { improvementRunId } }));
    await refused('a run of nobody', () =>
      ask({ ...filters, cursor }, { path: { improvementRunId: 'run_of-nobody' } }),
    );
    const { withHistory: candidateSourcedId } = runs.caller.fixtures(tenantId).candidates;
    const candidates = await runs.caller.call(listCandidateReports, {
      tenantId,
      path: { candidateSourcedId },
      query: '?limit=2',
    });
    const { nextCursor } = JSON.parse(candidates.text) as { readonly nextCursor: string };
    await refused('the cursor of a candidate’s list', () =>
      runs.caller.call(listRevisionOrders, {
        tenantId,
        path: { improvementRunId: run.improvementRunId },
        query: queryOf({ limit: '2', cursor: nextCursor }),
      }),
    );
    await accepted('its own', ask({ ...filters, cursor }));
  });

  it('goes with its own caller alone [RP-208, RP-303]', async () => {
    const cursor = await given();
    const own = { ...filters, cursor };
    const [first = ''] = claims().administrationIds;
    const callers: [string, NonNullable<GatewayCall['claims']>][] = [
      ['another subject', { ...claims(), sub: 'somebody-else' }],
      ['another role', { ...claims(), role: 'teacher' }],
      ['an administration less', { administrationIds: [first] }],
      ['a class more', { ...claims(), classSourcedIds: [runs.caller.fixtures(tenantId).classes[0]!] }],
      ['no claim, to whom the run would be hidden', {}],
    ];
    for (const [what, others] of callers) await refused(what, () => ask(own, { claims: others }));
    await refused('a scope more', () => ask(own, { scopes: ['reports:read', 'reports:write'] }));
    const { sub, role } = localTenant(tenantId);
    await refused('another tenant, by the same names', () =>
      ask(own, { tenantId: otherTenant, claims: { ...claims(), sub, role } }),
    );
    await accepted('its own', ask(own));
  });

  it('is refused with anything in it changed [RP-303]', async () => {
    const cursor = await given();
    const bits = [0, 20, cursor.indexOf('.') + 1, cursor.length - 30, cursor.length - 2];
    for (const at of bits) {
      const flipped = String.fromCharCode(cursor.charCodeAt(at) ^ 1);
      const changed = `${cursor.slice(0, at)}${flipped}${cursor.slice(at + 1)}`;
      await refused(`a bit at ${at} of ${cursor.length}`, () => ask({ ...filters, cursor: changed }));
    }
    const texts: [string, string][] = [
      ['cut', cursor.slice(0, -1)],
      ['half', cursor.slice(0, cursor.length / 2)],
      ['longer', `${cursor}A`],
      ['with white space', ` ${cursor}`],
      ['in another case', cursor.toUpperCase()],
      ['twice', `${cursor}.${cursor}`],
      [
        'the content of another',
        [...cursor.split('.').slice(0, 3), ...(await given()).split('.').slice(3)].join('.'),
      ],
      ['a token', await stack.tokenFor(tenantId, ['reports:read'])],
    ];
    for (const [what, text] of texts) await refused(what, () => ask({ ...filters, cursor: text }));
    const long = await ask({ ...filters, cursor: 'x'.repeat(2049) });
    expect(reportsAnswerOf(long)).toBe('400 validation');
    expect(reportsProblemOf(long).fieldErrors?.map(({ pointer }) => pointer)).toEqual(['/query/cursor']);
    await accepted('as it was given', ask({ ...filters, cursor }));
  });

  it('goes for one hour [RP-303]', async () => {
    const clients = createEndpointClients({
      endpoint: stack.urls.awsUrl,
      region: localRegion,
      credentials: localCredentials,
    });
    const keys = createKeyRing({
      settings: createKeySettings(clients.dynamo, localTableName('settings')),
      kms: createDataKeyOpener(clients.kms),
      stage: localStage,
      purposes: ['cursor'],
      clock: Date.now,
    });
    const { sub, role } = localTenant(tenantId);
    const { status, targetModule, limit } = filters;
    const use: CursorUse<'revisionOrderId'> = {
      list: listRevisionOrders.operationId,
      keyset: ['revisionOrderId'],
      principal: {
        tenantId,
        sub,
        role,
        scopes: ['reports:read'],
        studentIds: [],
        classSourcedIds: [],
        schoolSourcedIds: [],
        ...claims(),
      },
      binding: { improvementRunId: run.improvementRunId, status, targetModule, limit: Number(limit) },
    };
    const opened = await openCursor(keys, use, await given(), Date.now());
    if (!opened.ok) throw new Error('the function seals its cursors otherwise');
    const sealedAt = (time: number): Promise<string> => sealCursor(keys, use, opened.value, time);
    const now = Date.now();
    const young = await sealedAt(now - HOUR / 2);
    await accepted('of half an hour ago', ask({ ...filters, cursor: young }));
    for (const age of [HOUR, HOUR + 60_000, 48 * HOUR]) {
      const old = await sealedAt(now - age);
      await refused(`${age} ms old`, () => ask({ ...filters, cursor: old }));
    }
    clients.destroy();
  });
});

describe('a page of orders on many sources', { timeout: 240_000 }, () => {
  const SOURCES = 16;
  let large: RunRecord;
  let opened: readonly string[];
  beforeAll(async () => {
    // No message is taken: what a worker would have recorded of a run of small sources is written here.
    stack.improvement.pause();
    const key = await runs.analyze(runs.administration('large-sitting'));
    const { run: whole } = await runs.progress(key);
    const sources = [];
    for (const source of whole.pins.sources.slice(0, SOURCES)) sources.push(await makeSmall(whole, source));
    large = await runs.records.store.createRun({
      ...whole,
      improvementRunId: 'run_of-many-sources',
      pins: { ...whole.pins, sources },
    });
    opened = await openOrders(large);
  }, 240_000);

  const crosswalkOf = (ref: string): AlignmentCrosswalk => {
    const crosswalk = stack.seededTenants
      .get(tenantId)!
      .platform.reports.generated.alignmentCrosswalks.get(ref)!();
    return { ...crosswalk, requirements: crosswalk.requirements.slice(0, 220) };
  };

  /** Has Content hold a few requirements of a source only, and pins these. */
  async function makeSmall({ pins }: RunRecord, source: PinnedSource): Promise<PinnedSource> {
    const { ref } = source.crosswalk;
    await stack.control('PATCH', 'entities', {
      tenantId,
      entity: 'content.alignment_crosswalk',
      id: ref,
      changes: [{ pointer: '/requirements', value: crosswalkOf(ref).requirements }],
    });
    const bytes = await ownerBytes(stack, tenantId, operations.readAlignmentCrosswalk, {
      path: { testSpecId: pins.contentTestSpecId, crosswalkId: ref },
      query: { version: pins.contentTestSpecVersion },
    });
    return { ...source, crosswalk: { ref, sha256: sha256Hex(bytes) } };
  }

  /** Records the orders of all of the run’s sources. */
  async function openOrders(record: RunRecord): Promise<readonly string[]> {
    const { platform, analysisPolicy: released } = stack.seededTenants.get(tenantId)!;
    const { generated } = platform.reports;
    const { administrationId, pins } = record;
    const { contentTestSpecId, contentTestSpecVersion } = pins;
    const { checksum } = pins.analysisPolicy;
    const policy = analysisPolicy.parse({ ...released.document, checksum });
    const grounds = { tenantId, administrationId, contentTestSpecId, contentTestSpecVersion, policy };
    const ids: string[] = [];
    for (const { sourceKey, crosswalk, comparison: pin } of pins.sources) {
      const alignment = alignSource(crosswalkOf(crosswalk.ref));
      if (!alignment.ok) throw new Error(alignment.error);
      const comparison =
        pin === null || pin === 'missing'
          ? {}
          : {
              comparison: {
                pin,
                artifact: generated.analysisArtifacts.get(pin.ref)!() as ComparisonArtifact,
              },
            };
      const { orders } = deriveSourceOrders(grounds, {
        sourceKey,
        crosswalk,
        alignment: alignment.value,
        ...comparison,
      });
      for (const { content, lineage } of orders) {
        const { revisionOrderId, targetModule } = content;
        const order = { revisionOrderId, evidence: `source:${sourceKey}` as const, targetModule, lineage };
        await runs.records.store.openOrder(record, order, Date.now());
        ids.push(revisionOrderId);
      }
    }
    return ids.toSorted();
  }

  const ask = (query: string, improvementRunId = large.improvementRunId): Promise<GatewayReply> =>
    runs.caller.call(listRevisionOrders, {
      tenantId,
      claims: {
        schoolSourcedIds: runs.caller
          .fixtures(tenantId)
          .schools.map(({ schoolSourcedId }) => schoolSourcedId),
      },
      path: { improvementRunId },
      query,
    });

  const artifactsOf = (calls: readonly RecordedCall[]): number => {
    const ids: readonly (string | null)[] = [
      operations.readAlignmentCrosswalk.id,
      operations.readAnalysisArtifact.id,
    ];
    return calls.filter(({ operation }) => ids.includes(operation)).length;
  };

  it('rests on twelve artifacts at most, and page by page every order is reached once [RP-001, RP-207, RP-208]', async () => {
    expect(opened.length).toBeGreaterThan(SOURCES);
    const ids: string[] = [];
    const artifacts: number[] = [];
    for (let cursor = ''; ;) {
      const { result, calls } = await callsDuring(stack, () => ask(`?limit=100${cursor}`));
      expect(reportsAnswerOf(result)).toBe('200');
      const { data, nextCursor } = revisionOrderPage.parse(JSON.parse(result.text));
      expect(data.length).toBeGreaterThan(0);
      expect(countedCalls(calls)).toBe(artifactsOf(calls) + 1);
      artifacts.push(artifactsOf(calls));
      ids.push(...data.map(({ revisionOrderId }) => revisionOrderId));
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(ids).toEqual(opened);
    expect(artifacts.length).toBeGreaterThan(1);
    expect(Math.max(...artifacts)).toBeLessThanOrEqual(12);
    expect(Math.max(...artifacts)).toBeGreaterThan(10);
  });

  it('takes what its budget says when all of its owners show it something else [RP-001]', async () => {
    for (const name of ['readAlignmentSources', 'readAlignmentCrosswalk', 'readAnalysisArtifact'] as const)
      await stack.fault({ operation: operations[name].id, kind: 'version_drift', times: 1_000 });
    const { result, calls } = await callsDuring(stack, () => ask('?limit=100'));
    expect(reportsAnswerOf(result)).toMatch(/^503 dependency-incomplete /);
    expect(countedCalls(calls)).toBeLessThanOrEqual(listRevisionOrders.budget.calls);
    expect(countedCalls(calls)).toBeGreaterThan(listRevisionOrders.budget.calls - 3);
  });

  it('is none under a policy that is not the one of the run: nothing is derived by another [RP-201, RP-278]', async () => {
    const { pins } = large;
    const orders = await runs.records.store.listOrders(large, { limit: 1 });
    const changed = { ...pins.analysisPolicy, checksum: 'f'.repeat(64) };
    for (const [improvementRunId, policy] of [
      ['run_of-another-checksum', changed],
      ['run_of-no-policy', { ...pins.analysisPolicy, id: 'policy-of-nobody' }],
    ] as const) {
      const record = await runs.records.store.createRun({
        ...large,
        improvementRunId,
        pins: { ...pins, analysisPolicy: policy },
      });
      expect(reportsAnswerOf(await ask('', improvementRunId))).toBe('200');
      const { revisionOrderId, evidence, targetModule } = orders[0]!;
      const lineage = `${improvementRunId.length}`.padStart(64, '0');
      await runs.records.store.openOrder(
        record,
        { revisionOrderId, evidence, targetModule, lineage },
        Date.now(),
      );
      expect(reportsAnswerOf(await ask('', improvementRunId))).toBe('503 dependency-incomplete unknown');
    }
  });
});
