import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { canonicalJson } from '#shared/kernel/canonical-json.ts';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { roundSignificant } from '#shared/kernel/numbers.ts';
import { deliverySession } from '#shared/platform/owners/qti.ts';
import { kcComponent, resultRecordRequest } from '#shared/platform/owners/results.ts';
import { caliperEvent } from '#shared/platform/owners/caliper.ts';
import { oracleOf } from '#test/reference/calibrated-oracle.ts';
import { openAdaptiveRuns, receiptTraceOf } from '#test/support/adaptive-run.ts';
import type { PlatformState } from '#test/support/platform-control.ts';
import { useTestStack } from '#test/support/stack.ts';
import { bankOf, reportOf, takeJourney, type Journey, type Step } from '#test/support/take-journey.ts';
import type { JourneyBank } from '#local/journey/bank.ts';
import { compareReport } from '#local/journey/compare-report.ts';

/** Every bank of the default seed: the learner who takes it, and the stops that the bank's policy is for. */
const banks = [
  { bank: 'fraction-subtraction', learner: 3, stops: ['classifications_complete'] },
  { bank: 'fraction-subtraction-short', learner: 1, stops: ['max_items'] },
  { bank: 'fraction-subtraction-timed', learner: 2, stops: ['time_budget'], secondsPerItem: 0.9 },
  // Exposure control draws each run its own items, so either may come first.
  { bank: 'generated', learner: 4, stops: ['precision_target_met', 'classifications_complete'] },
  { bank: 'prerequisites', learner: 1, stops: ['classifications_complete'] },
] as const;
const modes = ['production_learner', 'owner_conformance'] as const;
/** The first tenant takes every bank, the others the first one. */
const cases = localTenantIds.flatMap((tenantId, at) =>
  banks
    .slice(0, at === 0 ? banks.length : 1)
    .flatMap((bank) => modes.map((mode) => ({ tenantId, mode, ...bank }))),
);

const heldSession = z.strictObject({ candidateRef: z.string(), session: deliverySession });
const heldRecord = z.strictObject({
  resultRecordId: z.string(),
  request: resultRecordRequest,
  components: z.array(kcComponent),
});

const stack = useTestStack();

it('has a journey for every bank of the seed', () => {
  expect(banks.map(({ bank }) => bank)).toEqual(stack.seed.banks.map(({ name }) => name));
});

describe.each(cases)(
  '$tenantId, $bank, $mode',
  ({ tenantId, bank: bankName, mode, learner, stops, ...rest }) => {
    let bank: JourneyBank;
    let journey: Journey;
    let before: PlatformState;
    let after: PlatformState;
    beforeAll(async () => {
      const runs = openAdaptiveRuns(stack, tenantId);
      bank = bankOf(stack.seed, tenantId, bankName);
      await stack.control('POST', 'reset');
      before = await runs.state();
      journey = await takeJourney(runs, {
        bank,
        mode,
        learner,
        ...('secondsPerItem' in rest
          ? {
              beforePlay: async () => {
                await stack.control('POST', 'clock', { advanceSeconds: rest.secondsPerItem });
              },
            }
          : {}),
      });
      after = await runs.state();
    });

    const seeded = () => stack.seededTenants.get(tenantId)!;
    const policy = () =>
      seeded().policies.find(({ document }) => document.id === bank.fixture.selectionPolicyId)!.document;
    const calibration = () =>
      seeded().calibrations.find(({ document }) => document.id === bank.fixture.scaleCalibrationId)!;
    const manifest = () =>
      seeded().platform.manifests.find(({ operationId }) => operationId === bank.fixture.bankOperationId)!;
    const memberOf = (artifactVersionId: string) =>
      manifest().members!.find((member) => member.artifactVersionId === artifactVersionId)!;
    const offeredSessions = () =>
      journey.answered.map(({ item }) =>
        heldSession.parse(after.entities['qti.session']![item.deliverySessionId]),
      );
    /** Whether an answer, by its place in the run, was handed in after the time budget: then it does not count. */
    const isLate = (at: number) => {
      const [first, answered] = [offeredSessions()[0]!, offeredSessions()[at]!];
      const elapsed =
        Date.parse(String(answered.session.attempts[0]!.submittedAt)) - Date.parse(first.session.createdAt);
      return at > 0 && elapsed >= (policy().timeBudgetSeconds ?? Infinity) * 1000;
    };
    const counted = () => journey.answered.filter((_, at) => !isLate(at));
    const consumedBy = ({ consumed }: Step) => counted().slice(0, consumed);
    const sessions = () => offeredSessions().filter((_, at) => !isLate(at));
    /** What Results and Caliper hold of this run and of no other. */
    const published = () => {
      const own = <T>(kind: string, schema: z.ZodType<T>): T[] =>
        Object.entries(after.entities[kind]!)
          .filter(([id]) => !Object.hasOwn(before.entities[kind]!, id))
          .map(([, entity]) => schema.parse(entity));
      return { records: own('results.record', heldRecord), events: own('caliper.event', caliperEvent) };
    };

    it(`runs from start to ${stops.join(' or ')} with the three calls and the player alone [MA-076, MA-083, MA-135, MA-136, MA-138, MA-139, MA-186]`, () => {
      expect(journey.steps[0]!.given.status).toBe(201);
      for (const { request, given } of journey.steps) {
        const isLast = given === journey.last;
        expect(given.status).toBe(request === 'start' ? 201 : 200);
        expect([given.body.status, given.body.stopReason]).toEqual(
          isLast ? ['completed', expect.toBeOneOf([...stops])] : ['in_progress', null],
        );
      }
      expect(journey.answered.length).toBeGreaterThan(1);
    });

    it(`stops at the first answer for which its rule holds, and no earlier [MA-108, MA-109, MA-110, MA-111, MA-198]`, () => {
      const { precisionTarget, maxItems, coverageFloors } = policy();
      for (const step of journey.steps.filter(({ request }) => request === 'advance')) {
        const { kcClassifications, remainingUncertainty, continuationExpiresAt, timeBudgetEndsAt } =
          step.given.body;
        const advancedAt = Date.parse(continuationExpiresAt) - 24 * 3_600_000;
        const items = consumedBy(step).map(({ item }) => memberOf(item.artifactVersionId));
        const covered = coverageFloors.every(
          ({ caseCompetencyGuid: guid, minimumEvidenceItems }) =>
            items.filter(({ kcGuids, caseGuids }) => [...kcGuids, ...caseGuids].includes(guid)).length >=
            minimumEvidenceItems,
        );
        const holding = {
          classifications_complete: kcClassifications.every((kc) => kc.classification !== 'not_yet'),
          precision_target_met: covered && remainingUncertainty <= precisionTarget,
          max_items: step.consumed === maxItems,
          time_budget: isLate(step.consumed - 1) || advancedAt >= Date.parse(timeBudgetEndsAt ?? '9999'),
        };
        const rules = Object.entries(holding).flatMap(([name, holds]) => (holds ? [name] : []));
        expect([step.consumed, rules[0] ?? null]).toEqual([step.consumed, step.given.body.stopReason]);
      }
    });

    it('says in every answer what was asked for, the pins, the one item that is offered, each component in scope with its scored items under the rule of the policy, and from the first consumed outcome on the scale of the calibration [MA-001, MA-012, MA-065, MA-072, MA-077, MA-078, MA-079, MA-080, MA-082, MA-091, MA-093, MA-094, MA-096, MA-097, MA-098, MA-099, MA-100, MA-108, MA-110]', () => {
      const { document } = calibration();
      const { caseFrameworkGuid, caseMappingVersion } = document;
      const { kcCutScore, confidenceThreshold } = policy();
      const { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId } = bank.fixture;
      const { root, members } = manifest();
      const executionPins = {
        ...journey.steps[0]!.given.body.executionPins,
        ...{ testSpecId, testBankId, bankOperationId },
        qtiPoolPackageId: root!.packageId,
        qtiPoolArtifactId: root!.artifactId,
        qtiPoolArtifactVersionId: root!.artifactVersionId,
        qtiPoolPackageHash: root!.packageHash,
      };
      const scope = bank.fixture.kcGuids.toSorted();
      for (const guid of scope) expect(after.entities['case.item']).toHaveProperty([guid]);
      for (const step of journey.steps) {
        const { kcClassifications, scale } = step.given.body;
        const items = consumedBy(step).map(({ item }) => memberOf(item.artifactVersionId));
        expect(step.given.body).toMatchObject({
          ...{ runMode: mode, selectionPolicyId, scaleCalibrationId, executionPins },
          offeredItem: journey.answered[step.consumed]?.item ?? null,
          kcClassifications: scope.map((caseCompetencyGuid, at) => {
            const evidence = items.filter(({ kcGuids }) => kcGuids.includes(caseCompetencyGuid));
            const p = kcClassifications[at]?.posteriorProbability ?? NaN;
            const isCertain = evidence.length > 0 && Math.max(p, 1 - p) >= confidenceThreshold;
            return {
              ...{ caseCompetencyGuid, caseFrameworkGuid, caseMappingVersion, posteriorProbability: p },
              ...{ cutScore: kcCutScore, confidenceThreshold },
              classification: !isCertain ? 'not_yet' : p >= kcCutScore ? 'mastered' : 'gap',
              evidenceItemRefs: evidence.map(({ qtiIdentifier }) => qtiIdentifier),
            };
          }),
          scaleReportability: step.consumed === 0 ? 'pending' : 'reportable',
          scale:
            step.consumed === 0
              ? null
              : {
                  ...{ scaleScore: scale?.scaleScore, standardError: scale?.standardError },
                  ...{ scaleId: document.scaleId, scaleCalibrationId, anchor: document.anchor },
                  ...{ validFrom: document.validFrom, validUntil: document.validUntil },
                  limitations: document.limitations,
                },
        });
      }
      // Numbered on, none twice, each a member of the manifest.
      const offered = journey.answered.map(({ item }) => item);
      expect(offered.map(({ sequence }) => sequence)).toEqual(offered.map((_, at) => at + 1));
      const versions = offered.map(({ artifactVersionId }) => artifactVersionId);
      expect(new Set(versions).size).toBe(versions.length);
      expect(members!.map(({ artifactVersionId }) => artifactVersionId)).toEqual(
        expect.arrayContaining(versions),
      );
    });

    it('offers native QTI sessions of exactly those items, all of one pseudonym that names no learner [MA-001, MA-029, MA-030, MA-090, MA-091, MA-144]', () => {
      const held = offeredSessions();
      expect(held.map(({ session }) => session.rootArtifactVersionId)).toEqual(
        journey.answered.map(({ item }) => item.artifactVersionId),
      );
      const [candidate, ...others] = new Set(held.map(({ candidateRef }) => candidateRef));
      expect(others).toEqual([]);
      expect(candidate).not.toContain(bank.resultsStudentId);
      for (const { session } of held) {
        expect(Object.keys(session['deliverySnapshot'] ?? {})).not.toEqual([]);
        // The player's one attempt, and nobody has closed the session.
        expect(session.attempts).toHaveLength(1);
      }
      expect(after.counts['qti.session']! - before.counts['qti.session']!).toBe(held.length);
      expect(after.counts['qti.attempt']! - before.counts['qti.attempt']!).toBe(held.length);
    });

    it('says what brute force over the same outcomes says [MA-084, MA-095, MA-097, MA-098]', () => {
      let checked = 0;
      for (const step of journey.steps) {
        // Brute force takes its time: the first answers and the last one say enough.
        if (step.request === 'inspect' || (step.consumed > 3 && step.given !== journey.last)) continue;
        const oracle = oracleOf(
          bank.parameters,
          consumedBy(step).map(({ item, correct }) => ({
            artifactVersionId: item.artifactVersionId,
            correct,
          })),
        );
        if (oracle === undefined) continue;
        const { kcClassifications, scale, remainingUncertainty } = step.given.body;
        for (const { caseCompetencyGuid, posteriorProbability } of kcClassifications)
          expectClose(posteriorProbability, oracle.kcs.get(caseCompetencyGuid)!);
        const entropies = kcClassifications.map(({ caseCompetencyGuid }) =>
          entropy(oracle.kcs.get(caseCompetencyGuid)!),
        );
        expectClose(remainingUncertainty, entropies.reduce((sum, bits) => sum + bits, 0) / entropies.length);
        if (scale !== null) {
          expectClose(scale.scaleScore, oracle.scaleScore);
          expectClose(scale.standardError, oracle.standardError);
        }
        checked += 1;
      }
      expect(checked).toBeGreaterThan(2);
    });

    it('shows numbers at the pinned precision [MA-041, MA-084, MA-117]', () => {
      const { numericPrecision } = calibration().document;
      for (const { given } of journey.steps) {
        const { kcClassifications, scale, remainingUncertainty } = given.body;
        const numbers = [
          ...kcClassifications.map((kc) => kc.posteriorProbability),
          remainingUncertainty,
          ...(scale === null ? [] : [scale.scaleScore, scale.standardError]),
        ];
        for (const number of numbers) expect(roundSignificant(number, numericPrecision)).toBe(number);
      }
    });

    it('renews the token with each advance and the strong tag with each step; inspect echoes the token [MA-048, MA-060, MA-073, MA-075, MA-136]', () => {
      const tags = journey.steps.map(({ given }) => given.etag);
      expect(tags.every(isStrongEntityTag)).toBe(true);
      expect(new Set(tags).size).toBe(tags.length);
      const tokens = journey.steps.map(({ given }) => given.body.continuationToken);
      expect(new Set(tokens).size).toBe(1 + journey.answered.length);
      for (const [at, { request, given }] of journey.steps.entries()) {
        const { continuationToken, continuationExpiresAt } = given.body;
        const former = journey.steps[at - 1]?.given.body;
        if (request === 'inspect')
          expect([continuationToken, continuationExpiresAt]).toEqual([
            former!.continuationToken,
            former!.continuationExpiresAt,
          ]);
        // The 24 hours of a renewed token begin with the advance.
        if (request === 'advance')
          expect(Date.parse(continuationExpiresAt)).toBeGreaterThan(
            Date.parse(former!.continuationExpiresAt),
          );
        expect(Date.parse(continuationExpiresAt)).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
      }
    });

    it('logs a trace for every answer, whose content address is the receipt id [MA-015, MA-087, MA-088]', async () => {
      const wanted = new Set(journey.steps.map(({ given }) => given.body.receiptId));
      expect(wanted.size).toBe(journey.steps.length);
      const receipts = await vi.waitFor(() =>
        [...wanted].map((receiptId) => receiptTraceOf(stack, receiptId)),
      );
      const { resolvedPoolHash } = journey.last.body.executionPins;
      for (const receipt of receipts) {
        expect(receipt).toMatchObject({
          code: 'RUN_RECEIPT',
          profile: tenantId,
          runMode: mode,
          resolvedPoolHash,
          hosts: [new URL(stack.urls.platformUrl).host],
        });
        expect(receipt.trace.map(({ operation }) => operation)).toEqual(
          expect.arrayContaining(['bank.read_adaptive_pool_manifest', 'qti.read_adaptive_pool_root']),
        );
        expect(receipt.trace.filter(({ tenant }) => tenant === 'other')).toEqual([]);
      }
    });

    it('publishes what the last answer says, and in conformance nothing to Results [MA-002, MA-013, MA-014, MA-034, MA-037, MA-085, MA-086, MA-202]', () => {
      const { records, events } = published();
      const { body } = journey.last;
      for (const { given } of journey.steps.slice(0, -1)) {
        expect(given.body).not.toHaveProperty('resultRecordRef');
        expect(given.body).not.toHaveProperty('caliperEventRef');
      }
      const { scoredAt } = sessions().at(-1)!.session.attempts[0]!;
      expect(events).toMatchObject([
        {
          id: body.caliperEventRef,
          type: mode === 'production_learner' ? 'GradeEvent' : 'Event',
          actor: { type: 'SoftwareApplication', id: expect.stringMatching(/^urn:uuid:/) as string },
          eventTime: new Date(String(scoredAt)).toISOString(),
        },
      ]);
      expect(JSON.stringify(events)).not.toContain('candidate-');
      expect(JSON.stringify(events)).not.toMatch(/"urn:(?!uuid:)/);
      if (mode === 'owner_conformance') {
        expect(body).not.toHaveProperty('resultRecordRef');
        expect(records).toEqual([]);
        expect(JSON.stringify(events)).not.toMatch(/"Person"|"Score"/);
        return;
      }
      expect(records).toHaveLength(1);
      const [{ resultRecordId, request, components }] = records as [z.infer<typeof heldRecord>];
      expect(resultRecordId).toBe(body.resultRecordRef);
      const { scaleId, scaleScore, standardError } = body.scale!;
      expect(request).toMatchObject({
        studentId: bank.resultsStudentId,
        scale: { scaleId, scaleScore, standardError },
        stopReason: body.stopReason,
        administeredItemCount: counted().length,
        deliverySessionIds: counted().map(({ item }) => item.deliverySessionId),
        scoredAt,
      });
      const { selectionPolicyId, scaleCalibrationId } = body;
      expect(new Set(components.map(({ componentId }) => componentId)).size).toBe(components.length);
      expect(components).toEqual(
        body.kcClassifications.map((kc) => ({
          componentId: expect.any(String) as string,
          caseCompetencyGuid: kc.caseCompetencyGuid,
          classification: kc.classification,
          posteriorProbability: kc.posteriorProbability,
          evidenceItemRefs: kc.evidenceItemRefs,
          selectionPolicyId,
          scaleCalibrationId,
        })),
      );
      expect(events).toMatchObject([
        { object: { assignee: { type: 'Person' } }, generated: { type: 'Score', scoreGiven: scaleScore } },
      ]);
      const recordedBefore = before.counts['results.record']!;
      expect(after.counts['results.record']).toBe(recordedBefore + 1);
    });

    it.runIf(mode === 'production_learner')(
      'ends with a report that says what the engine answered, on the outcomes that QTI scored [RP-012, RP-092, RP-097, RP-099, RP-106]',
      async () => {
        const { body } = journey.last;
        const report = await reportOf(stack, tenantId, bank.resultsStudentId, body.resultRecordRef!);
        const comparison = compareReport(
          { run: body, studentId: bank.resultsStudentId, answered: counted().length },
          report,
        );
        expect(comparison.differences).toEqual([]);
        expect(report.mastery).toHaveLength(comparison.measured);
        const [{ components }] = published().records as [z.infer<typeof heldRecord>];
        const componentIds = new Map(components.map((kc) => [kc.caseCompetencyGuid, kc.componentId]));
        const scored = new Map(
          sessions().map(({ session: { rootArtifactVersionId, attempts } }) => [
            memberOf(rootArtifactVersionId).qtiIdentifier,
            attempts[0]!,
          ]),
        );
        for (const { caseGuid, threshold, evidence } of report.mastery) {
          expect(threshold).toBe(policy().kcCutScore);
          expect(
            evidence!.map(({ qtiOutcomeId, resultComponentId, observedAt }) => ({
              qtiOutcomeId,
              resultComponentId,
              observedAt,
            })),
          ).toEqual(
            evidence!.map(({ qtiItemId }) => ({
              qtiOutcomeId: scored.get(qtiItemId)!.attemptId,
              resultComponentId: componentIds.get(caseGuid),
              observedAt: scored.get(qtiItemId)!.scoredAt,
            })),
          );
        }
        expect(report.sources.map(({ service, status }) => `${service} ${status}`)).toEqual([
          'qti current',
          'results current',
          'content current',
          'oneroster current',
          'case current',
          'caliper current',
        ]);
      },
    );

    it('shows no item, response, pseudonym, learner, address or parameter in any answer [MA-089, MA-123]', () => {
      const { credentials } = seeded().platform;
      const words = [
        ...seeded().platform.artifacts.flatMap(({ prompt }) => prompt ?? []),
        ...new Set(sessions().map(({ candidateRef }) => candidateRef)),
        ...sessions().map(({ session }) => session.attempts[0]!.attemptId),
        ...Object.values(credentials),
        bank.resultsStudentId,
        new URL(stack.urls.platformUrl).host,
      ].map((word) => JSON.stringify(word).slice(1, -1));
      const secrets = new Set(
        bank.parameters.items
          .flatMap(({ probabilities }) => probabilities)
          .concat(bank.parameters.kcs.flatMap(({ slope = NaN, location = NaN }) => [slope, location])),
      );
      for (const { given } of journey.steps) {
        const text = canonicalJson(given.body);
        expect(words.filter((word) => text.includes(word))).toEqual([]);
        expect(numbersIn(given.body).filter((number) => secrets.has(number))).toEqual([]);
      }
    });
  },
);

/** Equal but for the last of twelve digits. */
function expectClose(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-11 * Math.max(1, Math.abs(expected)));
}

function entropy(p: number): number {
  return -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
