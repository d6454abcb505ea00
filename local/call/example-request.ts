import type { Route, Scope } from '#shared/contract/route.ts';
import type { TokenClaims } from '#shared/stage/local-issuer.ts';
import type { BankFixture, StackDescription } from '#shared/stage/description.ts';
import type { SavedRuns } from './saved-runs.ts';

type Fixtures = StackDescription['fixtures'][string];
type TestMember =
  | 'selectionPolicyId'
  | 'scaleCalibrationId'
  | 'testSpecId'
  | 'testBankId'
  | 'bankOperationId';
type ResourceClaims = Pick<
  TokenClaims,
  'studentIds' | 'classSourcedIds' | 'schoolSourcedIds' | 'administrationIds'
>;

/** A request of a route, ready to be sent or printed. */
export interface CallRequest {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly ifMatch: string | undefined;
  /** What the token has to contain. */
  readonly scope: Scope;
  readonly claims: ResourceClaims;
}

/** Values that the caller sets in place of the examples. */
export interface GivenValues {
  readonly parameters: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly ifMatch?: string | undefined;
}

/** How many knowledge components a simulation's profiles name, so that the printed command stays readable. */
const SIMULATED_KCS = 3;

/**
 * Returns the request of a route, with an example from the stack's fixtures wherever the caller gives no value.
 * @returns the names of the path parameters that have neither, in `missing`: those of runs, before one is started
 */
export function exampleRequest(
  route: Route,
  fixtures: Fixtures,
  saved: SavedRuns,
  given: GivenValues = { parameters: {} },
): CallRequest & { readonly missing: readonly string[] } {
  const examples = examplePath(route, fixtures, saved);
  const names = Object.keys(route.request.path.shape);
  const path = Object.fromEntries(
    names.map((name) => [name, given.parameters[name] ?? examples[name] ?? '']),
  );
  const body = exampleBody(route, fixtures, saved);
  const query = Object.fromEntries(
    Object.entries(given.parameters).filter(([name]) => name in route.request.query.shape),
  );
  return {
    route,
    path,
    query,
    body: route.request.body === undefined ? undefined : (given.body ?? JSON.stringify(body)),
    ifMatch: route.request.ifMatch ? (given.ifMatch ?? saved.adaptive?.etag) : undefined,
    scope: route.scope,
    claims: claimsFor(route, path, fixtures),
    missing: [
      ...names.filter((name) => path[name] === ''),
      ...(route.request.body !== undefined && given.body === undefined && body === undefined ? ['body'] : []),
    ],
  };
}

/** Returns an example of every path parameter that any route has, by its name. */
function examplePath(
  { operationId }: Route,
  { mastery, reports }: Fixtures,
  { improvement }: SavedRuns,
): Readonly<Record<string, string | undefined>> {
  const [bank] = mastery.banks;
  const [school] = reports.schools;
  return {
    attemptId: operationId === 'readReadiness' ? reports.attempts.gatePass : reports.attempts.gateFail,
    candidateSourcedId: reports.candidates.withHistory,
    classSourcedId: reports.classes[0],
    schoolSourcedId: school?.schoolSourcedId,
    grade: school?.grade,
    qtiTestId: reports.forms.equivalent,
    administrationId: reports.administrations[0],
    improvementRunId: improvement?.improvementRunId,
    sourceKey: reports.sourceKeys[0],
    policyId: bank?.selectionPolicyId,
    calibrationId: bank?.scaleCalibrationId,
  };
}

function exampleBody(
  { operationId }: Route,
  { mastery, reports }: Fixtures,
  { adaptive }: SavedRuns,
): object | undefined {
  const [bank] = mastery.banks;
  switch (operationId) {
    case 'startAdaptiveRun':
      return {
        ...(bank && testOf(bank)),
        runMode: 'production_learner',
        resultsStudentId: mastery.resultsStudentId,
      };
    case 'inspectAdaptiveRun':
    case 'advanceAdaptiveRun':
      return adaptive === undefined ? undefined : { continuationToken: adaptive.continuationToken };
    case 'simulateScoreRecovery':
      return {
        ...(bank && testOf(bank)),
        profiles: [profile(mastery, 'novice', 0), profile(mastery, 'expert', 1)],
      };
    case 'materializeAttemptReport':
      return {
        attemptId: reports.attempts.unsettled,
        administrationId: reports.administrationOf.unsettled,
      };
    default:
      return undefined;
  }
}

/** Returns the members of a start request that name the test of a bank. */
export function testOf(bank: BankFixture): Pick<BankFixture, TestMember> {
  const { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId } = bank;
  return { selectionPolicyId, scaleCalibrationId, testSpecId, testBankId, bankOperationId };
}

/** Returns a simulated learner who has mastered all of the named knowledge components, or none. */
function profile({ banks: [bank] }: Fixtures['mastery'], name: string, probability: 0 | 1): object {
  const guids = bank?.kcGuids.slice(0, SIMULATED_KCS) ?? [];
  return {
    syntheticProfileId: `synthetic:${name}`,
    knownMastery: Object.fromEntries(guids.map((guid) => [guid, probability])),
  };
}

/** Returns the resource claims that a route looks at: the fixtures' ids, and the ids that the request names. */
function claimsFor(
  route: Route,
  path: Readonly<Record<string, string>>,
  { mastery, reports }: Fixtures,
): ResourceClaims {
  if (route.service === 'mastery') return {};
  const { attemptId, candidateSourcedId, classSourcedId, schoolSourcedId, administrationId } = path;
  const distinct = (...ids: readonly string[]): readonly string[] => [...new Set(ids)];
  if (classSourcedId !== undefined) return { classSourcedIds: [classSourcedId] };
  if (schoolSourcedId !== undefined) return { schoolSourcedIds: [schoolSourcedId] };
  if (candidateSourcedId !== undefined) return { studentIds: [candidateSourcedId] };
  const students = distinct(...reports.students, mastery.resultsStudentId);
  if (attemptId !== undefined) return { studentIds: students };
  if (route.operationId === 'materializeAttemptReport')
    return { studentIds: students, administrationIds: distinct(...Object.values(reports.administrationOf)) };
  if (administrationId !== undefined) return { administrationIds: [administrationId] };
  return 'improvementRunId' in path ? { administrationIds: reports.administrations } : {};
}
