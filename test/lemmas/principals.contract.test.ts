import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, importJWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { localTenantIds } from '#local/seeds/tenants.ts';
import { openControlRecords } from '#test/support/control-records.ts';
import { indistinguishable, type GatewayCall, type GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { openReportsCaller } from '#test/support/reports-call.ts';
import { lazily } from '#test/support/lazily.ts';
import { useTestStack } from '#test/support/stack.ts';
import { answerOf, notFound, openTitles, sendDraft, type Rules } from './answers.ts';
import { draftOf, withHeader } from './requests.ts';
import {
  claimNames,
  everyClaim,
  naming,
  nobodys,
  openWorlds,
  operations,
  ownedBy,
  takesClaims,
  valueAt,
} from './worlds.ts';
import type { Claims } from './worlds.ts';
import type { OperationId } from '#shared/contract/routes.ts';

// Who may do what on every route, derived from the rows: what is denied cannot be told from what nobody has, neither by its answer nor by
// what the owners are asked for it.

const stack = useTestStack();
const worlds = lazily(() => openWorlds(stack));
const control = lazily(() => openControlRecords(stack));

/** Makes what the requests of an operation name. Runs end in it alone: in the tests, a run that has begun is enough. */
async function prepare(operation: OperationId): Promise<void> {
  stack.improvement.resume();
  for (const tenantId of localTenantIds) await worlds.request(operation, tenantId);
  stack.improvement.pause();
}

const rules: Rules = [
  [/^(?:read(?!Sel|Scale)|list|materialize|analyze)\w+ 401 /, 'RP-024, RP-226, RP-311, RP-312'],
  [/^(?:read(?!Sel|Scale)|list|materialize|analyze)\w+ 403 /, 'RP-024, RP-227, RP-312'],
  [/^(?:start|inspect|advance|simulate|readSel|readScale)\w+ 401 /, 'MA-044, MA-148'],
  [/^(?:start|advance)\w+ 403 /, 'MA-150'],
  [/^(?:inspect|readSel|readScale)\w+ 403 /, 'MA-158'],
  [/^simulate\w+ 403 /, 'MA-179'],
  [/ 404 not-found: /, 'RP-005, RP-024, RP-313, RP-314, RP-316, RP-317, RP-324, RP-337'],
  [/^readAttemptReport 404 /, 'RP-058, RP-229, RP-231'],
  [/^readReadiness 404 /, 'RP-249, RP-250'],
  [/^listCandidateReports 404 /, 'RP-234, RP-237'],
  [/^readClassCohort 404 /, 'RP-239, RP-240'],
  [/^readSchoolGradeCohort 404 /, 'RP-242, RP-244'],
  [/^readEquivalence 404 /, 'RP-246, RP-247'],
  [/^materializeAttemptReport 404 /, 'RP-253, RP-255, RP-289'],
  [/^analyzeAdministration 404 /, 'RP-259, RP-261, RP-290'],
  [/^readImprovementRun 404 /, 'RP-266, RP-267'],
  [/^readAlignmentReport 404 /, 'RP-269, RP-271'],
  [/^listRevisionOrders 404 /, 'RP-277'],
  [/ 404 resource-not-found: /, 'MA-008, MA-009, MA-015, MA-040, MA-200, MA-214'],
  [/ 404 resource-not-found: .*\/(?:selectionPolicyId|scaleCalibrationId|policyId|calibrationId) /, 'MA-104'],
  [/^start\w+ 404 /, 'MA-151'],
  [/^(?:inspect|advance)\w+ 404 /, 'MA-061, MA-159'],
  [/^readSelectionPolicy 404 /, 'MA-174'],
  [/^readScaleCalibration 404 /, 'MA-176'],
  [/^simulate\w+ 404 /, 'MA-180'],
];
const { titled, unused } = openTitles(rules);

const directions = [
  ['tenant-aurora', 'tenant-borealis'],
  ['tenant-borealis', 'tenant-aurora'],
] as const;

const idsIn = (claims: readonly Claims[]): readonly string[] =>
  claims.flatMap((held) => Object.values(held).flat()).map(String);

/** Everything that a tenant's fixtures let one claim, but these ids. */
function othersOf(tenantId: string, ids: readonly string[]): Claims {
  const { students, classes, schools, administrations } = openReportsCaller(stack).fixtures(tenantId);
  const rest = (all: readonly string[]): readonly string[] => all.filter((id) => !ids.includes(id));
  return {
    studentIds: rest(students),
    classSourcedIds: rest(classes),
    schoolSourcedIds: rest(schools.map(({ schoolSourcedId }) => schoolSourcedId)),
    administrationIds: rest(administrations),
  };
}

/** Claims that come close to those that open a resource and do not, by one of them. */
function closeTo(opener: Claims, others: Claims): readonly (readonly [string, Claims])[] {
  return claimNames
    .filter((name) => opener[name] !== undefined)
    .flatMap((claim): readonly (readonly [string, Claims])[] => {
      const [id = ''] = opener[claim] ?? [];
      const rest: Claims = { ...opener, [claim]: undefined };
      const elsewhere = claimNames.filter((name) => opener[name] === undefined);
      return [
        ['absent', rest],
        ['empty', { ...rest, [claim]: [] }],
        ['all others of the tenant', { ...others, ...rest, [claim]: others[claim] }],
        ['in another case', { ...rest, [claim]: [id.toUpperCase()] }],
        ['its parts and patterns', { ...rest, [claim]: [id.slice(0, -1), `${id}0`, ` ${id}`, '*', ''] }],
        ['in every other claim', { ...rest, ...Object.fromEntries(elsewhere.map((name) => [name, [id]])) }],
        ['tenant and role instead', { ...rest, [claim]: ['tenant-aurora', 'admin'], role: 'admin' }],
      ];
    });
}

/** The headers of callers that are not known; every way not to be: shared/http/auth/verify-token.test.ts. */
async function strangers(
  token: string,
  otherTenant: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const key = await importJWK(stack.issuerKey, 'ES256');
  const foreign = await generateKeyPair('ES256');
  const [header = '', payload = '', signature = ''] = token.split('.');
  const now = Math.floor(Date.now() / 1000);
  const signed = async (claims: object, members: object = {}, by: typeof key = key) => {
    const jwt = new SignJWT({ ...decodeJwt(token), ...claims });
    const protectedHeader = { ...decodeProtectedHeader(token), alg: 'ES256', ...members };
    return [`Bearer ${await jwt.setProtectedHeader(protectedHeader).sign(by)}`];
  };
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
  const turned = `${signature.slice(0, 40)}${signature[40] === 'A' ? 'B' : 'A'}${signature.slice(41)}`;
  const swapped = Buffer.from(payload, 'base64url')
    .toString()
    .replaceAll(/tenant-\w+/g, otherTenant);
  return new Map([
    ['no header', []],
    ['Basic', [`Basic ${Buffer.from('a:b').toString('base64')}`]],
    ['two headers', [`Bearer ${token}`, `Bearer ${token}`]],
    ['unsigned', [`Bearer ${unsigned}.${payload}.`]],
    ['a changed signature', [`Bearer ${header}.${payload}.${turned}`]],
    ['another tenant in it', [`Bearer ${header}.${Buffer.from(swapped).toString('base64url')}.${signature}`]],
    ['signed by another key', await signed({}, {}, foreign.privateKey)],
    ['expired', await signed({ exp: now - 61 })],
    ['issued in the future', await signed({ iat: now + 120 })],
    ['of another issuer', await signed({ iss: 'https://issuer.example' })],
    ['for another audience', await signed({ aud: 'https://api.example' })],
    ['of no tenant', await signed({ tenantId: undefined })],
    ['that names its key', await signed({}, { jku: 'https://attacker.example/keys.json' })],
  ]);
}

/** Scopes that are not the one of a route. */
function foreignScopes(scope: string): readonly (readonly string[])[] {
  const all = ['mastery:run', 'mastery:read', 'mastery:simulate', 'reports:read', 'reports:write'];
  const [service = ''] = scope.split(':');
  const near = [
    `${scope}x`,
    `x${scope}`,
    service,
    `${service}:*`,
    '*',
    scope.toUpperCase(),
    `${scope},${scope}`,
  ];
  return [[], all.filter((one) => one !== scope), near];
}

const textOf = (reply: GatewayReply): string => JSON.stringify(indistinguishable(reply));
const denied = { mastery: '403 insufficient-scope', reports: '403 authorization-denied' } as const;

describe.each(operations)('$operation', ({ operation, route }) => {
  const send = (call: GatewayCall): Promise<GatewayReply> => worlds.send(operation, call);
  const answer = (reply: GatewayReply): readonly string[] => answerOf(route, reply);
  const hidden = notFound[route.service];
  const hasRecords = route.request.idempotencyKey;
  beforeAll(() => prepare(operation));

  /** Requests for what is there, what is another tenant's, and what nobody has. */
  async function targets(tenantId: string, otherTenant: string): Promise<readonly GatewayCall[]> {
    const own = await worlds.request(operation, tenantId);
    const foreign = await worlds.request(operation, otherTenant);
    const absent = ownedBy(operation).map((place) => naming(own, place, nobodys(valueAt(own, place))));
    return [own, { ...foreign, tenantId }, ...absent.slice(0, 1)];
  }

  it(
    titled(`${operation} 401 authentication-required: callers that are not known, for any resource`),
    async () => {
      const [tenantId, otherTenant] = directions[0];
      const { result: distinct, calls } = await callsDuring(stack, async () => {
        const all = new Set<string>();
        for (const call of await targets(tenantId, otherTenant)) {
          const token = await stack.tokenFor(tenantId, [route.scope], call.claims ?? {});
          const good = draftOf(route, call, token);
          for (const [what, values] of await strangers(token, otherTenant)) {
            const reply = await sendDraft(stack, route, withHeader('Authorization', ...values)(good));
            expect([what, ...answer(reply)]).toEqual([what, '401 authentication-required']);
            // As a REST API renames it.
            expect(reply.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer');
            all.add(textOf(reply));
          }
        }
        return all;
      });
      expect(calls).toEqual([]);
      expect(distinct.size).toBe(1);
    },
  );

  it(titled(`${operation} ${denied[route.service]}: every scope but its own, for any resource`), async () => {
    const { result: distinct, calls } = await callsDuring(stack, async () => {
      const all = new Set<string>();
      for (const call of await targets(...directions[0])) {
        for (const scopes of foreignScopes(route.scope)) {
          const reply = await send({ ...call, scopes });
          expect([scopes, ...answer(reply)]).toEqual([scopes, denied[route.service]]);
          all.add(textOf(reply));
        }
      }
      return all;
    });
    expect(calls).toEqual([]);
    expect(distinct.size).toBe(1);
  });

  // A route without an owned value has nothing to hide.
  const toHide = ownedBy(operation).length === 0 ? [] : directions;
  describe.each(toHide)('%s and what belongs to %s', (tenantId, otherTenant) => {
    /** A denial, and what the owners are asked for it. */
    async function hide(
      call: GatewayCall,
    ): Promise<{ readonly text: string; readonly asked: readonly unknown[] }> {
      // On the reports service a record is written when the work begins.
      const records = () => (hasRecords && route.service === 'reports' ? control.items() : undefined);
      const before = await records();
      const { result, calls } = await callsDuring(stack, () => send(call));
      expect(answer(result)).toEqual([hidden]);
      expect(await records()).toEqual(before);
      expect(calls.filter((one) => one.tenantId !== tenantId || one.method !== 'GET')).toEqual([]);
      return { text: textOf(result), asked: calls.map(({ operation: id }) => id).sort() };
    }

    it.each(
      ownedBy(operation).map(
        (place) =>
          [
            titled(`${operation} ${hidden}: the other tenant’s /${place.join('/')} is like nobody’s`),
            place,
          ] as const,
      ),
    )('%s', async (_, place) => {
      const own = await worlds.request(operation, tenantId);
      const theirs = valueAt(await worlds.request(operation, otherTenant), place);
      // The claims name both, as they would if the tenants were one.
      const ids = idsIn([...worlds.openers(operation, tenantId), ...worlds.openers(operation, otherTenant)]);
      const claims = route.service === 'mastery' ? {} : everyClaim([...ids, theirs, nobodys(theirs)]);
      const compare = async (): Promise<void> => {
        const absent = await hide({ ...naming(own, place, nobodys(theirs)), claims });
        expect(await hide({ ...naming(own, place, theirs), claims })).toEqual(absent);
        // Ids are compared in their letter case.
        const upper = valueAt(own, place).toUpperCase();
        if (place[1] !== 'continuationToken')
          expect(
            (await hide({ ...naming(own, place, upper), claims: everyClaim([...ids, upper]) })).text,
          ).toBe(absent.text);
        const headers = { 'X-Tenant-Id': otherTenant, Tenant: otherTenant, 'X-Forwarded-Host': otherTenant };
        expect(await hide({ ...naming(own, place, theirs), claims, headers })).toEqual(absent);
      };
      await compare();
      const { result, calls } = await callsDuring(stack, () => send(own));
      expect(result.status).toBe(route.success.status);
      expect(calls.filter((one) => one.tenantId !== tenantId || one.path.includes(otherTenant))).toEqual([]);
      await compare();
    });

    if (takesClaims(operation))
      it(titled(`${operation} ${hidden}: claims that come close to those that it takes`), async () => {
        const own = await worlds.request(operation, tenantId);
        const place = ownedBy(operation)[0]!;
        const openers = worlds.openers(operation, tenantId);
        const others = othersOf(tenantId, idsIn(openers));
        const requested = [own.path, own.body].flatMap((part) =>
          Object.values((part ?? {}) as Record<string, string>),
        );
        const absent = await hide({ ...naming(own, place, nobodys(valueAt(own, place))), claims: {} });
        for (const opener of openers) {
          const named = everyClaim(requested.filter((id) => !idsIn(openers).includes(id)));
          for (const [what, claims] of [
            ...closeTo(opener, others),
            ['of the ids of the request', named] as const,
          ]) {
            const { text, asked } = await hide({ ...own, claims });
            expect([what, text]).toEqual([what, absent.text]);
            // The second of two claims is judged after the first one has let in.
            if (Object.keys(opener).length === 1) expect([what, asked]).toEqual([what, absent.asked]);
          }
          const widened = Object.fromEntries(
            Object.entries(opener).map(([name, ids]) => [name, ['another', ...(ids as readonly string[])]]),
          );
          for (const claims of [opener, widened]) {
            const { status } = await send({ ...own, claims });
            expect([claims, status]).toEqual([claims, route.success.status]);
          }
        }
      });
  });
});

it('attaches every rule to a case', () => {
  expect(unused()).toEqual([]);
});

it('names an owned value of every route that takes resource claims', () => {
  const claimed = operations.filter(({ operation }) => takesClaims(operation));
  expect(claimed.filter(({ operation }) => ownedBy(operation).length === 0)).toEqual([]);
});

describe('all routes together', () => {
  beforeAll(async () => {
    for (const { operation } of operations) await prepare(operation);
  });

  const reportsRows = operations.filter(({ route }) => route.service === 'reports');

  it('puts nothing of one tenant into an answer to the other, and no id, key, cursor or token into a log line of the reports service [RP-024, RP-324]', async () => {
    const ids = new Map(localTenantIds.map((tenantId) => [tenantId as string, idsOf(tenantId)]));
    const answers: { readonly of: string; readonly text: string }[] = [];
    const keys: string[] = [];
    let requests = 0;
    for (const [tenantId, otherTenant] of directions) {
      for (const { operation, route } of operations) {
        const own = await worlds.request(operation, tenantId);
        const foreign = { ...(await worlds.request(operation, otherTenant)), tenantId };
        const others = [
          foreign,
          { ...own, claims: {} },
          ...ownedBy(operation)
            .slice(0, 1)
            .flatMap((place): readonly GatewayCall[] => {
              const [id, theirs] = [valueAt(own, place), valueAt(foreign, place)];
              return [
                { ...own, query: `?cursor=${theirs}&of=${id}` },
                { ...own, scopes: [id] },
                naming(own, place, `${id} ${id}`),
              ];
            }),
        ];
        for (const call of route.service === 'mastery' ? [own] : [own, ...others]) {
          const key = route.request.idempotencyKey ? randomUUID() : null;
          if (key !== null) keys.push(key);
          const { headers, text } = await worlds.send(operation, { key, ...call });
          answers.push({ of: tenantId, text: `${JSON.stringify([...headers])}\n${text}` });
          if (route.service === 'reports') requests += 1;
        }
      }
    }
    for (const { of, text } of answers) {
      const [foreign = ''] = localTenantIds.filter((tenantId) => tenantId !== of);
      expect([...ids.get(foreign)!, foreign].filter((id) => text.includes(id))).toEqual([]);
    }
    const names = new Set(reportsRows.map(({ route }) => route.operationId));
    const lines = await vi.waitFor(() => {
      const written = stack
        .logs()
        .filter((line) => names.has(line.function))
        .map(({ line }) => JSON.stringify(line));
      expect(written.filter((line) => line.includes('REQUEST_COMPLETED')).length).toBeGreaterThanOrEqual(
        requests,
      );
      return written;
    });
    const written = lines.join('\n');
    for (const [tenantId, held] of ids)
      expect([...held, tenantId].filter((id) => written.includes(id))).toEqual([]);
    expect(keys.filter((key) => written.includes(key))).toEqual([]);
    // A token has parts; an opaque id may begin like one by chance.
    expect(written).not.toMatch(/Bearer|eyJ[\w-]{8,}\./);
  });
});

/** Every id of a tenant's reports and tests, as its owners hold them, and its credentials. */
function idsOf(tenantId: string): ReadonlySet<string> {
  const { platform, fixtures } = stack.seededTenants.get(tenantId)!;
  const { reports, students, credentials } = platform;
  const found = new Set<string>([...students, ...Object.values(credentials)]);
  const look = (value: unknown): void => {
    if (typeof value === 'string' && /[0-9a-f]{12}/.test(value)) found.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  look(reports);
  look(fixtures.mastery);
  for (const own of reports.generated.attemptIds.values()) own.forEach((id) => found.add(id));
  for (const id of reports.generated.records.keys()) found.add(id);
  expect(found.size).toBeGreaterThan(500);
  return found;
}
