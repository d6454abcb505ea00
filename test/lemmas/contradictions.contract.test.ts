import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lazily } from '#test/support/lazily.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { useTestStack } from '#test/support/stack.ts';
import { openTitles } from './answers.ts';
import { expectReport, factsOf, sentenceOf } from './compare-answers.ts';
import { heldOf, subjects, type Expected } from './contradictions.ts';
import { openReads, somebody, tenantId, type Reads } from './sound-reads.ts';

// Every fact of the table, changed at its owner, on every route that depends on it. Of a rule of a composition every row is in a table beside
// the composition: functions/reports/composition.

const stack = useTestStack();
const caller = lazily(() => openReportsCaller(stack));
afterEach(async () => {
  await stack.control('POST', 'reset');
});

const { titled, unused } = openTitles([
  [/ 503 /, 'RP-017, RP-028'],
  [/^readAttemptReport 200/, 'RP-072'],
  [/^readAttemptReport 404/, 'RP-058, RP-231, RP-316'],
  [/^readAttemptReport 409/, 'RP-232'],
  [/^readAttemptReport 503/, 'RP-233'],
  [/^readReadiness 404/, 'RP-250, RP-316'],
  [/^readReadiness 409/, 'RP-251'],
  [/^readReadiness 503/, 'RP-252'],
  [/^listCandidateReports 404/, 'RP-237, RP-316'],
  [/^listCandidateReports 503/, 'RP-133, RP-238'],
  [/^readClassCohort 404/, 'RP-240'],
  [/^readClassCohort 503/, 'RP-241'],
  [/^readSchoolGradeCohort 404/, 'RP-244'],
  [/^readSchoolGradeCohort 503/, 'RP-245'],
  [/^readEquivalence 404/, 'RP-247'],
  [/^readEquivalence 503/, 'RP-248'],
  [/(?:\/freshness|caseFrameworkChangedAt) /, 'RP-087'],
  [/attempt_evidence \/status/, 'RP-063'],
  [/(?:\/settled false|\/score null|resultRecordId null)/, 'RP-062'],
  [/\/testKind "formative"/, 'RP-008'],
  [/\/score\/value /, 'RP-003, RP-080'],
  [/\/diagnostic null/, 'RP-068'],
  [/\/externalScale /, 'RP-013, RP-108'],
  [/\/outcomes /, 'RP-096, RP-099'],
  [/(?:\/caseGuid |\/CFItems |\/caseFrameworkGuid )/, 'RP-089'],
  [/\/gate\/status "maybe"/, 'RP-100'],
  [/\/criteriaVersion /, 'RP-101'],
  [/\/gate\/required /, 'RP-010, RP-103'],
  [/\/criteria null/, 'RP-010, RP-011, RP-067'],
  [/\/gapCaseGuids /, 'RP-105'],
  [/^readReadiness 200: gatePass, .*\/(?:freshness|criteria|outcomes|CFItems) /, 'RP-118'],
  [/^readReadiness 200: gateFail/, 'RP-117'],
  [/\/coverageFraction null/, 'RP-109'],
  [/\/qualifyingBlueprintSlotIds /, 'RP-109, RP-116'],
  [/\/suppression\/status /, 'RP-131'],
  [/\/populationCount /, 'RP-004, RP-053, RP-130, RP-131'],
  [/\/scope/, 'RP-004, RP-129'],
  [/\/comparisonQtiTestIds /, 'RP-121'],
  [/\/decision /, 'RP-125'],
  [/\/evidenceArtifactUrl /, 'RP-126'],
]);

/** The sound answer with what differs from it. */
function patched(sound: string, differences: Exclude<Expected, string>): unknown {
  const whole = JSON.parse(sound) as object;
  const copy: unknown = JSON.parse(sound);
  for (const [path, to] of Object.entries(differences)) {
    const steps = path.split('/');
    const last = steps.pop()!;
    const parent = steps.reduce(
      (at, step) => at[step] as Record<string, unknown>,
      copy as Record<string, unknown>,
    );
    const value: unknown =
      typeof to === 'function' ? (to as (...of: unknown[]) => unknown)(parent[last], whole) : to;
    parent[last] = value;
  }
  return copy;
}

const inShort = (expected: Expected): string => (typeof expected === 'string' ? expected : '200');

describe.each(subjects.filter(({ cases }) => cases.length > 0))(
  '$route.operationId, $role',
  ({ route, role, call, cases }) => {
    let reads: Reads;
    beforeAll(async () => {
      reads = await openReads(stack, caller, {
        route,
        call: (fixtures) => call(heldOf(stack, fixtures, role)),
      });
    });

    it.each(
      cases.map(
        (one) =>
          [titled(`${route.operationId} ${inShort(one.expected)}: ${role}, ${one.what}`), one] as const,
      ),
    )('%s', async (_, { changes, expected }) => {
      for (const { entity, id, pointer, value } of changes(heldOf(stack, caller.fixtures(tenantId), role)))
        await stack.control('PATCH', 'entities', { tenantId, entity, id, changes: [{ pointer, value }] });
      const asking = somebody();
      const reply = await reads.send(asking);
      if (typeof expected === 'string') expect(sentenceOf(stack, reads.sound, reply)).toBe(expected);
      else {
        expect(reply.status).toBe(200);
        expectReport(route, reply);
        expect(factsOf(JSON.parse(reply.text))).toEqual(factsOf(patched(reads.sound.given.text, expected)));
      }
      // Whatever an owner mends, the next answer is the sound one again.
      await stack.control('POST', 'reset');
      expect(await reads.ask(asking)).toBe('200');
    });
  },
);

it('attaches every rule to a case', () => {
  expect(unused()).toEqual([]);
});
