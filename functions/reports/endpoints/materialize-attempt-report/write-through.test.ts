import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { caliperEnvelope } from '#shared/platform/owners/caliper.ts';
import type { CaliperEnvelope } from '#shared/platform/owners/caliper.ts';
import type { AttemptEvidence } from '#shared/platform/owners/qti.ts';
import type { SettledComponentsAck } from '#shared/platform/owners/results.ts';
import { attemptFacts } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import { componentsOf } from './components.ts';
import type { ComponentSet } from './components.ts';
import { writeThrough } from './write-through.ts';

interface Given {
  readonly evidence: AttemptEvidence;
  readonly components: ComponentSet;
  readonly ack: SettledComponentsAck;
}

/** Attempts with what Results would acknowledge of them. */
const givens: fc.Arbitrary<Given> = attemptFacts().map(({ evidence: { value: evidence }, record }) => {
  const components = componentsOf(evidence);
  if (!components.ok) throw new Error(components.error.code);
  const componentIds = components.value.body.components.map(({ componentId }) => componentId);
  const { score, modifiedAt } = record.value;
  if (score === null) throw new Error('every settled record has a score');
  return {
    evidence,
    components: components.value,
    ack: {
      tenantId: evidence.tenantId,
      attemptId: evidence.attemptId,
      resultRecordId: record.value.resultRecordId,
      version: record.value.version,
      count: componentIds.length,
      componentIds,
      score,
      settledAt: modifiedAt,
    },
  };
});

async function written({ evidence, components, ack }: Given) {
  const owners = scriptedOwners({ writeSettledComponents: { value: ack }, emitEvent: { value: undefined } });
  const result = await writeThrough(owners, evidence, components);
  const [, emitted] = owners.asked;
  return { owners, result, envelope: emitted?.call.body as unknown as CaliperEnvelope };
}

describe('writing through', () => {
  it('is components, then the event, with the same bytes whenever it is done again [RP-288, RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const [first, again] = [await written(given), await written(given)];
        expect(first.result.ok).toBe(true);
        expect(first.owners.asked.map(({ name }) => name)).toEqual(['writeSettledComponents', 'emitEvent']);
        expect(JSON.stringify(again.owners.asked)).toBe(JSON.stringify(first.owners.asked));
      }),
    );
  });

  it('emits an envelope that Caliper takes, of exactly the settled score [RP-003, RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const { envelope } = await written(given);
        expect(caliperEnvelope.safeParse(envelope).error?.issues ?? []).toEqual([]);
        const [event] = envelope.data;
        expect([envelope.sendTime, event?.eventTime]).toEqual([
          new Date(given.ack.settledAt).toISOString(),
          envelope.sendTime,
        ]);
        expect(event?.['generated']).toMatchObject({ scoreGiven: given.ack.score.value });
        expect(Object.hasOwn(event?.['generated'] as object, 'maxScore')).toBe(
          given.ack.score.maximum !== null,
        );
      }),
    );
  });

  it('names another event for another tenant, attempt, record or version, and no other [RP-319]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const idOf = async (change: Partial<SettledComponentsAck>): Promise<string> =>
          (await written({ ...given, ack: { ...given.ack, ...change } })).envelope.data[0]!.id;
        const unnamed = { ...given, evidence: { ...given.evidence, resultRecordId: null } };
        const ids = [
          await idOf({}),
          await idOf({ version: `${given.ack.version}2` }),
          (await written({ ...unnamed, ack: { ...given.ack, resultRecordId: 'another' } })).envelope.data[0]!
            .id,
        ];
        expect(new Set(ids).size).toBe(3);
        expect(await idOf({ settledAt: '2027-01-01T00:00:00Z' })).toBe(ids[0]);
      }),
      { numRuns: 30 },
    );
  });

  it('ends with Results where it does not acknowledge everything: 503 naming it, and no event [RP-258, RP-288]', async () => {
    await fc.assert(
      fc.asyncProperty(givens, async (given) => {
        const broken = { ...given, ack: { ...given.ack, count: given.ack.count + 1 } };
        const { owners, result } = await written(broken);
        expect(result).toMatchObject({
          error: { status: 503, code: 'dependency-unavailable', dependency: 'results' },
        });
        expect(owners.asked).toHaveLength(1);
      }),
    );
  });
});
