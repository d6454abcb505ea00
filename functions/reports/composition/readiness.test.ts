import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { readinessReport } from '#shared/contract/reports/readiness-report.ts';
import { err } from '#shared/kernel/result.ts';
import { readinessCrosswalks } from '#shared/platform/owners/content.ts';
import { anExampleOf, frozen, moment, readinessFacts } from '#test/support/report-facts.ts';
import { decideGate } from './gate-decision.ts';
import { composeReadiness } from './readiness.ts';
import type { ReadinessFacts, Released } from '../facts/facts.ts';

// What a wrong or missing fact makes of it, and the limits that it exceeds: test/lemmas/contradictions.contract.test.ts.

type Facts = ReadinessFacts & Released;

/** Readiness on facts that make one. */
function composed(facts: Facts): z.input<typeof readinessReport> {
  const report = composeReadiness(facts, moment);
  if (!report.ok) throw new Error(report.error.detail);
  return report.value;
}

describe('readiness', () => {
  it('has its shape, whatever the owners say, and their ids as they came [RP-005, RP-109, RP-111, RP-112, RP-113, RP-114, RP-115]', () => {
    fc.assert(
      fc.property(readinessFacts, (facts) => {
        const { evidence, record, criteria, candidate, framework, crosswalks } = frozen(facts);
        expect(readinessCrosswalks.parse(crosswalks.value)).toEqual(crosswalks.value);
        const report = composed(facts);
        expect(readinessReport.parse(report)).toEqual(report);
        expect(report).toMatchObject({
          attemptId: evidence.value.attemptId,
          sources: [
            evidence.receipt,
            record.receipt,
            criteria.receipt,
            candidate,
            framework.receipt,
            crosswalks.receipt,
          ],
          entries: crosswalks.value.entries.map((entry) => ({
            sourceTest: entry.sourceTest,
            sourceVersion: entry.sourceVersion,
            crosswalkVersion: entry.crosswalkVersion,
            coverageFraction: entry.coverageFraction,
            qualifyingBlueprintSlotIds: entry.qualifyingBlueprintSlotIds,
            decisionRuleId: 'gate-implies-readiness',
            decisionRuleVersion: '2',
          })),
        });
      }),
    );
  });

  it('projects a pass exactly when all of the rule holds on current evidence, and says why when it decides nothing [RP-116, RP-117, RP-118]', () => {
    fc.assert(
      fc.property(readinessFacts, (facts) => {
        const { evidence, record, criteria, candidate, framework, crosswalks } = facts;
        const gate = decideGate(record.value.gate, criteria.value.criteria);
        const status = record.value.testKind === 'mastery_gate' && gate.ok ? gate.value.status : 'none';
        const receipts = [evidence, record, criteria, framework].map(({ receipt }) => receipt);
        const isCurrent = [candidate, ...receipts].every((receipt) => receipt.status === 'current');
        const { mastery } = record.value;
        // Gaps of a passed gate are of what its criteria do not speak of.
        const isShown =
          mastery.some(({ state }) => state === 'mastered') && !mastery.some(({ state }) => state === 'gap');
        for (const [at, { decision, limitations }] of composed(facts).entries.entries()) {
          const entry = crosswalks.value.entries[at]!;
          const isSound =
            isCurrent &&
            crosswalks.receipt.status === 'current' &&
            entry.freshness === 'current' &&
            entry.coverageFraction === 1 &&
            entry.dokDominance === 'satisfied' &&
            entry.qualifyingBlueprintSlotIds.length > 0;
          const isProjected = isSound && status === 'pass' && isShown;
          const isFailed =
            status === 'fail' && [evidence, record].every(({ receipt }) => receipt.status === 'current');
          expect(decision).toBe(isProjected ? 'projected_pass' : isFailed ? 'not_ready' : 'indeterminate');
          expect(limitations.slice(0, entry.limitations.length)).toEqual(entry.limitations);
          const governed = criteria.value.criteria?.governedCaseGuids;
          const isBeyond = mastery.some(
            ({ state, caseGuid }) => state === 'gap' && governed?.includes(caseGuid) === false,
          );
          expect(limitations.length > entry.limitations.length).toBe(
            status === 'fail' ? !isSound || isBeyond : !isProjected,
          );
        }
      }),
    );
  });

  it('names every cause, and that the blueprint of a formative has no evidence for external claims [RP-015]', () => {
    const facts = anExampleOf(readinessFacts);
    facts.record.value.testKind = facts.criteria.value.testKind = 'formative';
    const limitationsWith = (qualifyingCoverage: boolean): number => {
      facts.criteria.value.qualifyingCoverage = qualifyingCoverage;
      return composed(facts).entries[0]!.limitations.length;
    };
    expect(limitationsWith(false)).toBe(limitationsWith(true) + 1);
  });

  it('admits 100 crosswalks and 50 limitations, its own included, and tells source tests apart by name and version [RP-110, RP-114]', () => {
    const facts = anExampleOf(
      readinessFacts.filter(({ record }) => record.value.testKind === 'a_kind_of_tomorrow'),
    );
    const { evidence, record, criteria, candidate, framework, crosswalks } = facts;
    const receipts = [evidence, record, criteria, framework, crosswalks].map(({ receipt }) => receipt);
    for (const receipt of [candidate, ...receipts]) receipt.status = 'current';
    const limitations = Array.from({ length: 49 }, (_, at) => `${at}`);
    const entry = {
      ...crosswalks.value.entries[0]!,
      coverageFraction: 1,
      dokDominance: 'satisfied',
      qualifyingBlueprintSlotIds: ['__proto__'],
      freshness: 'current' as const,
    };
    const names = ['State/5 2026', 'State /52026', 'State 5/2026'].map((name) => name.split('/'));
    while (names.length < 100) names.push(['State', `${names.length}`]);
    crosswalks.value.entries = names.map(([sourceTest = '', sourceVersion = '']) => ({
      ...entry,
      sourceTest,
      sourceVersion,
      limitations,
    }));
    const { entries } = readinessReport.parse(composed(facts));
    expect(entries.map((shown) => shown.limitations.length)).toEqual(Array(100).fill(50));
  });

  it('leaves a test out of which the blueprint does not say how much it covers, and names it, however many others there are [RP-109, RP-110]', () => {
    fc.assert(
      fc.property(readinessFacts, fc.array(fc.constantFrom('supplied', 'null', 'absent')), (facts, fates) => {
        const { entries } = facts.crosswalks.value;
        const sound = composed(facts);
        for (const [at, entry] of entries.entries()) {
          if (fates[at] === 'null') entry.coverageFraction = null;
          if (fates[at] === 'absent') delete entry.coverageFraction;
        }
        const isLeftOut = (at: number): boolean => ['null', 'absent'].includes(fates[at] ?? 'supplied');
        const left = entries.filter((_, at) => isLeftOut(at));
        if (left.length === entries.length) {
          expect(composeReadiness(facts, moment)).toMatchObject(
            err({ status: 503, dependency: 'blueprint' }),
          );
          return;
        }
        const { omittedEntries, ...others } = readinessReport.parse(composed(frozen(facts)));
        expect(others).toEqual({
          ...sound,
          entries: sound.entries.filter((_, at) => !isLeftOut(at)),
        });
        const named = left.map(({ sourceTest, sourceVersion }) => ({
          sourceTest,
          sourceVersion,
          reason: 'coverage_missing',
        }));
        expect(omittedEntries).toEqual(named.length === 0 ? undefined : named);
      }),
    );
  });
});
