import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportFacts } from '#functions/reports/facts/facts.ts';
import type { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { caliperEnvelope, type CaliperEnvelope } from '#shared/platform/owners/caliper.ts';
import { settledComponentsRequest, type SettledComponentsAck } from '#shared/platform/owners/results.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import { principalWith } from '#test/support/principal.ts';
import { attemptFacts, passedGate } from '#test/support/report-facts.ts';
import {
  dependenciesOver,
  requestOf,
  scriptOf,
  scriptedOwners,
  sentenceOf,
} from '#test/support/scripted-owners.ts';
import type { Script } from '#test/support/scripted-owners.ts';
import { materializeAttemptReportOperation } from './operation.ts';
import { componentsOf, writeThrough, type ComponentSet } from './write-through.ts';

interface Given {
  readonly evidence: AttemptEvidence;
  /** What Results acknowledges. */
  readonly ack: SettledComponentsAck;
}

function setOf(evidence: AttemptEvidence): ComponentSet {
  const set = componentsOf(evidence);
  if (!set.ok) throw new Error(set.error.code);
  return set.value;
}
const idsOf = (evidence: AttemptEvidence): readonly string[] =>
  setOf(evidence).body.components.map(({ componentId }) => componentId);

/** An attempt whose record Results acknowledges as it was settled. */
function givenOf({ evidence: { value: evidence }, record }: ReportFacts): Given {
  const { resultRecordId, version, score, modifiedAt } = record.value;
  const componentIds = [...idsOf(evidence)];
  return {
    evidence,
    ack: {
      tenantId: evidence.tenantId,
      attemptId: evidence.attemptId,
      resultRecordId,
      version,
      count: componentIds.length,
      componentIds,
      score: score!,
      settledAt: modifiedAt,
    },
  };
}
const givens = attemptFacts().map(givenOf);

async function written({ evidence, ack }: Given, change: Partial<SettledComponentsAck> = {}) {
  const owners = scriptedOwners({
    writeSettledComponents: { value: { ...ack, ...change } },
    emitEvent: { value: undefined },
  });
  const result = await writeThrough(owners, evidence, setOf(evidence));
  const envelope = owners.asked[1]?.call.body as CaliperEnvelope | undefined;
  return { result, calls: owners.asked, envelope, event: envelope?.data[0] };
}

describe('the components of an attempt', () => {
  it('are QTI’s outcomes byte for byte, each once, whatever order QTI lists them in, and a request that Results takes [RP-005, RP-027, RP-220]', () => {
    fc.assert(
      fc.property(givens, ({ evidence }) => {
        const { body } = setOf(evidence);
        expect(settledComponentsRequest.parse(body)).toEqual(body);
        const unnamed = (outcomes: readonly object[]) =>
          outcomes.map((outcome) => ({ ...outcome, componentId: '' }));
        expect(body.components).toHaveLength(evidence.outcomes.length);
        expect(unnamed(body.components)).toEqual(expect.arrayContaining(unnamed(evidence.outcomes)));
        const turned = { ...evidence, outcomes: evidence.outcomes.toReversed() };
        expect(JSON.stringify(setOf(turned))).toBe(JSON.stringify(setOf(evidence)));
      }),
    );
  });

  it('have ids of one tenant and one attempt alone, and another key for another content', () => {
    fc.assert(
      fc.property(givens, ({ evidence }) => {
        const others = [
          { ...evidence, tenantId: `${evidence.tenantId}-2` },
          { ...evidence, attemptId: `${evidence.attemptId}-2` },
        ];
        for (const other of others)
          expect(idsOf(other).filter((id) => idsOf(evidence).includes(id))).toEqual([]);
        const newer = { ...evidence, version: `${evidence.version}-2` };
        expect(idsOf(newer)).toEqual(idsOf(evidence));
        const keys = [evidence, newer, ...others].map((one) => setOf(one).idempotencyKey);
        expect(new Set(keys).size).toBe(4);
      }),
    );
  });
});

describe('writing through', () => {
  it('is components, then the event, with the same bytes whenever it is done again, whatever order Results names the components in [RP-288, RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const first = await written(given);
        const again = await written(given, { componentIds: given.ack.componentIds.toReversed() });
        expect(first.result.ok).toBe(true);
        expect(first.calls.map(({ name }) => name)).toEqual(['writeSettledComponents', 'emitEvent']);
        expect(JSON.stringify(again.calls)).toBe(JSON.stringify(first.calls));
      }),
    );
  });

  it('emits an envelope that Caliper takes, of exactly the settled score [RP-003, RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const { score, settledAt } = given.ack;
        const { envelope, event } = await written(given);
        expect(caliperEnvelope.safeParse(envelope).error?.issues ?? []).toEqual([]);
        const time = new Date(settledAt).toISOString();
        expect([envelope?.sendTime, event?.eventTime]).toEqual([time, time]);
        const { scoreGiven, maxScore } = event?.['generated'] as Readonly<Record<string, unknown>>;
        expect([scoreGiven, maxScore]).toEqual([score.value, score.maximum ?? undefined]);
      }),
    );
  });

  it('names another event for another tenant, attempt, record or version, and no other [RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async ({ evidence, ack }) => {
        const unnamed = { ack, evidence: { ...evidence, resultRecordId: null } };
        const idOf = async (change: Partial<SettledComponentsAck>) =>
          (await written(unnamed, change)).event?.id;
        const idOfOther = async (change: Partial<AttemptEvidence>) => {
          const other = { ...unnamed.evidence, ...change };
          const { tenantId, attemptId } = other;
          const components = { tenantId, attemptId, componentIds: [...idsOf(other)] };
          return (await written({ evidence: other, ack: { ...ack, ...components } })).event?.id;
        };
        const ids = [
          await idOf({}),
          await idOf({ version: `${ack.version}2` }),
          await idOf({ resultRecordId: 'another' }),
          await idOfOther({ tenantId: `${ack.tenantId}2` }),
          await idOfOther({ attemptId: `${ack.attemptId}2` }),
        ];
        expect(new Set(ids).size).toBe(5);
        expect(await idOf({ settledAt: '2027-01-01T00:00:00Z' })).toBe(ids[0]);
      }),
      { numRuns: 30 },
    );
  });

  it('ends with Results where it does not acknowledge attempt, record, count and every component: 503 naming it, and no event [RP-258, RP-288]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const { attemptId, resultRecordId, count, componentIds } = given.ack;
        const [first = '', ...rest] = componentIds;
        for (const broken of [
          { attemptId: `${attemptId}x` },
          { resultRecordId: `${resultRecordId}x` },
          { count: count + 1 },
          { count: count - 1, componentIds: rest },
          { componentIds: rest },
          { componentIds: [...rest, `${first}x`] },
          { componentIds: [...componentIds, first] },
        ]) {
          const { calls, result } = await written(given, broken);
          expect(result).toMatchObject({
            error: { status: 503, code: 'dependency-unavailable', dependency: 'results' },
          });
          expect(calls).toHaveLength(1);
        }
      }),
    );
  });
});

describe('reading back', () => {
  const facts = passedGate();
  const { evidence, ack } = givenOf(facts);
  const { attemptId, administrationId, candidateSourcedId, tenantId } = evidence;

  /** @param acknowledged in what the acknowledgement differs from the record that is read back */
  async function materialize(acknowledged: Partial<SettledComponentsAck> = {}, changes: Script = {}) {
    const owners = scriptedOwners({
      ...scriptOf(facts),
      readEvidenceAck: { kind: 'unavailable', status: 503 },
      writeSettledComponents: { value: { ...ack, ...acknowledged } },
      emitEvent: { value: undefined },
      ...changes,
    });
    const principal = principalWith({
      tenantId,
      studentIds: [candidateSourcedId],
      administrationIds: [administrationId, 'another'],
    });
    const asked = requestOf<typeof materializeAttemptReport>(1, { principal, path: {} });
    const run = materializeAttemptReportOperation(dependenciesOver(() => owners, { now: () => 1 }));
    return sentenceOf(await run({ ...asked, body: { attemptId, administrationId, view: 'summary' } }));
  }

  it('finds what was acknowledged, of the administration that was asked for, or is a 409 [RP-087, RP-257]', async () => {
    const { version } = ack;
    expect(await materialize()).toBe('facts');
    expect(await materialize({ version: `${version}-2` })).toBe('409 source-version-conflict results');
    const [unsettled, moved] = [{ resultRecordId: null }, { administrationId: 'another' }].map((change) => ({
      value: { ...evidence, ...change },
    }));
    const settled = { value: evidence };
    const first = { readAttemptEvidence: [unsettled!, settled] };
    expect(await materialize({}, first)).toBe('facts');
    expect(await materialize({ resultRecordId: 'another' }, first)).toBe(
      '409 source-version-conflict results',
    );
    expect(await materialize({}, { readAttemptEvidence: [settled, moved!] })).toBe(
      '409 source-version-conflict qti',
    );
    // A record that is not current contradicts nothing.
    const stale = { readSettledRecord: { value: { ...facts.record.value, freshness: 'stale' } } };
    expect(await materialize({ version: `${version}-2` }, stale)).toBe('503 dependency-incomplete results');
  });
});
