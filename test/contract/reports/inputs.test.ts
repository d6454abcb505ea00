import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grade } from '#shared/contract/reports/cohort-report.ts';
import {
  listCandidateReports,
  readAttemptReport,
  readClassCohort,
  readEquivalence,
  readReadiness,
  readSchoolGradeCohort,
} from '#shared/contract/reports/routes.ts';
import type { Route } from '#shared/contract/route.ts';
import { indistinguishable } from '#test/support/gateway-call.ts';
import type { GatewayReply } from '#test/support/gateway-call.ts';
import { callsDuring } from '#test/support/platform-calls.ts';
import { callRaw } from '#test/support/raw-call.ts';
import {
  openReportsCaller,
  reportsAnswerOf,
  reportsProblemOf,
  reportReads,
} from '#test/support/reports-call.ts';
import type { ReportsCaller } from '#test/support/reports-call.ts';
import { startTestStack } from '#test/support/stack.ts';
import type { TestStack } from '#test/support/stack.ts';

// What no good client sends, over whole functions: each has its one answer, nothing of it comes back or goes on, and nothing breaks.

let stack: TestStack;
let caller: ReportsCaller;
beforeAll(async () => {
  stack = await startTestStack();
  caller = openReportsCaller(stack);
});
afterAll(async () => {
  await stack.close();
  // Every answer is looked at below; what went wrong behind one is looked at here.
  const codes = stack.logs().map(({ line }) => (line as { readonly code?: unknown }).code);
  for (const code of ['REQUEST_FAILED', 'ANSWER_REFUSED', 'ANSWER_BROKEN', 'PROBLEM_UNDECLARED'])
    expect(codes).not.toContain(code);
});

type Headers = readonly (readonly [name: string, value: string])[];
interface Sent {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/** Sends a request line as it is written, with a token whose claims name these ids beside those of the tenant's fixtures. */
async function send(target: string, { headers = [], ...sent }: Sent = {}, ids: readonly string[] = []) {
  const { students, classes, schools } = caller.fixtures('tenant-aurora');
  const claims = {
    studentIds: [...students, ...ids],
    classSourcedIds: [...classes, ...ids],
    schoolSourcedIds: [...schools.map(({ schoolSourcedId }) => schoolSourcedId), ...ids],
  };
  const token = await stack.tokenFor('tenant-aurora', ['reports:read'], claims);
  return callRaw(stack.urls.reportsUrl, target, {
    ...sent,
    headers: [['Authorization', `Bearer ${token}`], ...headers],
  });
}

/** A refusal in one line: status, problem, and the places and codes of what is wrong. */
function refusalOf(reply: GatewayReply): string {
  if (reply.status < 400) return `${reply.status}`;
  const { fieldErrors } = reportsProblemOf(reply);
  return [
    reportsAnswerOf(reply),
    ...(fieldErrors ?? []).map(({ pointer, code }) => `${pointer} ${code}`),
  ].join(' ');
}

/** Refuses a table of requests; no owner may hear of any. */
async function refuseAll(table: readonly (readonly [target: string, refusal: string])[]): Promise<void> {
  const { calls } = await callsDuring(stack, async () => {
    for (const [target, refusal] of table) {
      const reply = await send(target);
      expect([target.slice(0, 200), refusalOf(reply)]).toEqual([target.slice(0, 200), refusal]);
      expect(reportsProblemOf(reply).retryable).toBe(false);
    }
  });
  expect(calls).toEqual([]);
}

/** Texts without white space, as a table has them. */
function words(texts: string): readonly string[] {
  return texts.trim().split(/\s+/);
}

/** A path parameter of a route, and its paths with one value in that place. */
interface Place {
  readonly route: Route;
  readonly parameter: string;
  readonly at: (encoded: string) => string;
  /** What says that a malformed one is 400. */
  readonly rule: string;
}
const references: readonly Place[] = [
  {
    route: readAttemptReport,
    parameter: 'attemptId',
    at: (id) => `/v1/attempt-reports/${id}`,
    rule: 'RP-230',
  },
  {
    route: readReadiness,
    parameter: 'attemptId',
    at: (id) => `/v1/attempt-reports/${id}/readiness`,
    rule: 'RP-281',
  },
  {
    route: listCandidateReports,
    parameter: 'candidateSourcedId',
    at: (id) => `/v1/candidates/${id}/attempt-reports`,
    rule: 'RP-235',
  },
  {
    route: readClassCohort,
    parameter: 'classSourcedId',
    at: (id) => `/v1/classes/${id}/cohort-report`,
    rule: 'RP-281',
  },
  {
    route: readSchoolGradeCohort,
    parameter: 'schoolSourcedId',
    at: (id) => `/v1/schools/${id}/grades/05/cohort-report`,
    rule: 'RP-281',
  },
  {
    route: readEquivalence,
    parameter: 'qtiTestId',
    at: (id) => `/v1/forms/${id}/equivalence`,
    rule: 'RP-281',
  },
];

/** A path of each route that answers 200. */
function good(): readonly (readonly [Route, string])[] {
  const { attempts, candidates, classes, schools, forms } = caller.fixtures('tenant-aurora');
  const { schoolSourcedId, grade: of } = schools[0]!;
  return [
    [readAttemptReport, `/v1/attempt-reports/${attempts.gateFail}`],
    [readReadiness, `/v1/attempt-reports/${attempts.gateFail}/readiness`],
    [listCandidateReports, `/v1/candidates/${candidates.withHistory}/attempt-reports`],
    [readClassCohort, `/v1/classes/${classes[0]!}/cohort-report`],
    [readSchoolGradeCohort, `/v1/schools/${schoolSourcedId}/grades/${of}/cohort-report`],
    [readEquivalence, `/v1/forms/${forms.equivalent}/equivalence`],
  ];
}
const pathOf = (route: Route): string => good().find(([row]) => row === route)![1];

it('looks at every route of the service', () => {
  expect(new Set(references.map(({ route }) => route))).toEqual(new Set(reportReads));
  expect(new Set(good().map(([route]) => route))).toEqual(new Set(reportReads));
});

/** Encoded references that nobody has, and what they stand for. */
const taken: readonly (readonly [encoded: string, id: string])[] = [
  ['x'.repeat(255), 'x'.repeat(255)],
  [`${encodeURIComponent('é'.repeat(127))}a`, `${'é'.repeat(127)}a`],
  [encodeURIComponent('😀'.repeat(63)), '😀'.repeat(63)],
  ['a%2Fb', 'a/b'],
  ['%2F', '/'],
  ['..%2F..%2Fv1', '../../v1'],
  ['%252F', '%2F'],
  ['%2500', '%00'],
  ['%25', '%'],
  ['%25zz', '%zz'],
  ['a%3Fview=x', 'a?view=x'],
  ['a%23b', 'a#b'],
  ['a;b=c', 'a;b=c'],
  ['a+b', 'a+b'],
  ['*', '*'],
  ['null', 'null'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['...', '...'],
  ['%00', '\0'],
  ['a%00b', 'a\0b'],
  ['%1B[0m', '\u001b[0m'],
  ['%E2%80%AE', '\u202e'],
  ['%C3%A9', 'é'],
  ['e%CC%81', 'e\u0301'],
  ['%7B%7B7*7%7D%7D', '{{7*7}}'],
  ['%27%2F**%2FOR%2F**%2F1=1', "'/**/OR/**/1=1"],
];

describe.each(references.map((place) => [`${place.route.operationId} ${place.parameter}`, place] as const))(
  'a reference as %s',
  (_, { route, parameter, at, rule }) => {
    it('of 1 to 255 bytes goes on to its owner byte for byte, and is 404 when nobody has it [RP-005, RP-049, RP-050, RP-316]', async () => {
      for (const [encoded, id] of taken) {
        const { result, calls } = await callsDuring(stack, () => send(at(encoded), {}, [id]));
        expect([encoded, refusalOf(result)]).toEqual([encoded, '404 not-found']);
        const segments = calls.map(({ path }) => path.split('/').map(decodeURIComponent));
        expect([encoded, segments.length > 0]).toEqual([encoded, true]);
        for (const path of segments) expect(path).toContain(id);
      }
    });

    it('that no path can carry is 404 without asking anybody [RP-005, RP-316]', async () => {
      const { calls } = await callsDuring(stack, async () => {
        for (const encoded of ['.', '..', '%2E', '%2e%2E', '.%2e'])
          expect([encoded, refusalOf(await send(at(encoded), {}, ['.', '..']))]).toEqual([
            encoded,
            '404 not-found',
          ]);
      });
      expect(calls).toEqual([]);
    });

    it(`of more than 255 bytes or with any white space is refused [RP-049, RP-050, RP-331, ${rule}]`, async () => {
      const refused = [
        'x'.repeat(256),
        'x'.repeat(4_000),
        encodeURIComponent('é'.repeat(128)),
        encodeURIComponent('é'.repeat(255)),
        encodeURIComponent('😀'.repeat(64)),
        ...words(`
        %20 a%20b a%09 %0Aa a%0D%0AX-Evil:%201 a%C2%85b a%C2%A0b a%E3%80%80b a%E2%80%A8b %EF%BB%BFa
      `),
      ];
      await refuseAll(
        refused.map((encoded) => [at(encoded), `400 validation /path/${parameter} invalid-format`]),
      );
    });

    it(`that is not UTF-8 in percent-encoding is refused [RP-331, ${rule}]`, async () => {
      const malformed = words(`
        % a% %2 %zz a%u0041 %C3 %C3%28 %ED%A0%80 %C0%AF %ff %F5%80%80%80
      `);
      await refuseAll(
        malformed.map((encoded) => [at(encoded), `400 validation /path/${parameter} malformed-encoding`]),
      );
    });

    it('is compared in its letter case [RP-005, RP-050]', async () => {
      const own = pathOf(route);
      const id = own.split('/').find((segment) => /[0-9a-f]{12}$/.test(segment))!;
      const upper = id.toUpperCase();
      expect(refusalOf(await send(own))).toBe('200');
      expect(refusalOf(await send(own.replace(id, upper), {}, [upper]))).toBe('404 not-found');
    });
  },
);

it('an id with a slash, percent signs and letters beyond ASCII names its resource exactly [RP-005, RP-055]', async () => {
  const attemptId = caller.fixtures('tenant-aurora').special.attempts['with-awkward-ids']!;
  expect(attemptId).toMatch(/[/%?#]/);
  const report = await send(`/v1/attempt-reports/${encodeURIComponent(attemptId)}`);
  expect(refusalOf(report)).toBe('200');
  const body = JSON.parse(report.text) as { attemptId: string; candidateSourcedId: string };
  expect(body.attemptId).toBe(attemptId);
  const candidate = encodeURIComponent(body.candidateSourcedId);
  const list = await send(`/v1/candidates/${candidate}/attempt-reports`);
  expect(JSON.parse(list.text)).toMatchObject({
    data: [{ attemptId, candidateSourcedId: body.candidateSourcedId }],
  });
  for (const near of [attemptId.replace('Ä', 'A\u0308'), attemptId.replace('%2e', '.'), `${attemptId}/`])
    expect(refusalOf(await send(`/v1/attempt-reports/${encodeURIComponent(near)}`))).toBe('404 not-found');
});

describe('a grade', () => {
  const at = (encoded: string): string => {
    const { schools } = caller.fixtures('tenant-aurora');
    return `/v1/schools/${schools[0]!.schoolSourcedId}/grades/${encoded}/cohort-report`;
  };

  it('of the code list is passed on exactly [RP-005, RP-243]', async () => {
    expect(grade.options).toHaveLength(24);
    for (const code of grade.options) {
      const { result, calls } = await callsDuring(stack, () => send(at(code)));
      // Analytics has analysed it, never, or withholds its count.
      expect([code, [200, 404, 503].includes(result.status)]).toEqual([code, true]);
      expect(calls.filter(({ path }) => path.includes(`/${code}/`) || path.endsWith(`/${code}`))).not.toEqual(
        [],
      );
    }
  });

  it('in any other spelling is refused, before anybody asks whose school it is [RP-243, RP-331]', async () => {
    const codes = [
      'x'.repeat(3_000),
      ...words(`
      K 9 5 005 14 kg Kg adultesl ADULTESL other all * 05%20 %2005 05%00 ..%2F %2E%2E%2F .. .
      %EF%BC%90%EF%BC%95 __proto__ toString 05,06
    `),
    ];
    await refuseAll(codes.map((encoded) => [at(encoded), '400 validation /path/grade not-allowed']));
    await refuseAll([[at('%C3'), '400 validation /path/grade malformed-encoding']]);
    await refuseAll([
      ['/v1/schools/nobodys/grades/K/cohort-report', '400 validation /path/grade not-allowed'],
      [
        '/v1/schools/no%20body/grades/K/cohort-report',
        '400 validation /path/schoolSourcedId invalid-format /path/grade not-allowed',
      ],
    ]);
  });
});

describe('a query', () => {
  const attempt = (query: string): string => `${pathOf(readAttemptReport)}?${query}`;
  const list = (query: string): string => `${pathOf(listCandidateReports)}?${query}`;
  const notAllowed = (name: string): string => `400 validation /query/${name} not-allowed`;
  const format = (name: string): string => `400 validation /query/${name} invalid-format`;
  const repeated = (name: string): string => `400 validation /query/${name} repeated`;
  const unsupported = (...names: readonly string[]): string =>
    ['400 unsupported-parameter', ...names.map((name) => `/query/${name} unsupported-parameter`)].join(' ');

  it('takes a view in its one spelling, once [RP-048, RP-074, RP-230, RP-331]', async () => {
    for (const view of ['', 'view=summary', 'view=standards', 'view=evidence', 'view=%73ummary'])
      expect([view, refusalOf(await send(attempt(view)))]).toEqual([view, '200']);
    const values = [
      '',
      'x'.repeat(2_000),
      ...words(`
      Summary SUMMARY %20summary summary%20 +summary summary%00 unknown full summary,evidence null % %ff
    `),
    ];
    await refuseAll(values.map((value) => [attempt(`view=${value}`), notAllowed('view')]));
    await refuseAll([
      [attempt('view'), notAllowed('view')],
      [attempt('view=summary&view=evidence'), repeated('view')],
      [attempt('view=summary&view=summary'), repeated('view')],
      [attempt('view=&view='), repeated('view')],
      [attempt('view=summary&%76iew=summary'), repeated('view')],
      [attempt(Array.from({ length: 500 }, () => 'view=summary').join('&')), repeated('view')],
    ]);
  });

  it('takes a limit of 1 to 100 in plain digits, once [RP-048, RP-235, RP-302, RP-331]', async () => {
    for (const limit of ['1', '9', '10', '99', '100'])
      expect([limit, refusalOf(await send(list(`limit=${limit}`)))]).toEqual([limit, '200']);
    const values = [
      '',
      '9'.repeat(5_000),
      ...words(`
      0 00 101 1000 999999999999999999999 -1 %2B5 +5 5.0 5. .5 1e1 0x5 05 %205 5%20 5%0A 5,5 5_0 %EF%BC%95
      %D9%A5 NaN Infinity null all 5%00 [5] "5"
    `),
    ];
    await refuseAll(values.map((value) => [list(`limit=${value}`), format('limit')]));
    await refuseAll([
      [list('limit=5&limit=6'), repeated('limit')],
      [list('limit=5&limit=5'), repeated('limit')],
    ]);
  });

  it('takes an instant that exists, in UTC, once [RP-048, RP-051, RP-235, RP-300, RP-331]', async () => {
    const taken = [
      '2026-01-31T09:30:00Z',
      '2026-01-31T09:30:00.5Z',
      '2026-01-31T23:59:59.999999999Z',
      `2026-01-31T09:30:00.${'0'.repeat(5_000)}Z`,
      '2024-02-29T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '2026-01-31T09%3A30%3A00Z',
    ];
    for (const value of taken)
      expect([value, refusalOf(await send(list(`modifiedSince=${value}`)))]).toEqual([value, '200']);
    const values = [
      '',
      ...words(`
      2026-01-31 2026-01-31T09:30Z 2026-01-31T09:30:00 2026-01-31T09:30:00z 2026-01-31t09:30:00Z
      2026-01-31T09:30:00%2B00:00 2026-01-31T09:30:00+00:00 2026-01-31T09:30:00-00:00
      2026-01-31T09:30:00%2B02:00 2026-01-31T09:30:60Z 2016-12-31T23:59:60Z 2026-01-31T24:00:00Z
      2026-02-29T00:00:00Z 2026-02-30T00:00:00Z 2026-13-01T00:00:00Z 2026-00-10T00:00:00Z
      2026-01-32T00:00:00Z 2026-01-31T09:60:00Z 2026-01-31T09:30:00.Z 2026-01-31T09:30:00,5Z
      2026-01-31%2009:30:00Z %202026-01-31T09:30:00Z 2026-01-31T09:30:00Z%0A 20260131T093000Z
      +2026-01-31T09:30:00Z %2B002026-01-31T09:30:00Z -2026-01-31T09:30:00Z 1769851800 1769851800000 now
      %D9%A2%D9%A0%D9%A2%D9%A6-01-31T09:30:00Z 2026-01-31T09:30:00Z[UTC]
    `),
    ];
    await refuseAll(values.map((value) => [list(`modifiedSince=${value}`), format('modifiedSince')]));
    const twice = 'modifiedSince=2026-01-31T09:30:00Z&modifiedSince=2026-01-31T09:30:00Z';
    await refuseAll([[list(twice), repeated('modifiedSince')]]);
  });

  it('takes a kind and a status in their one spelling, never `unknown` [RP-048, RP-060, RP-235, RP-331]', async () => {
    const kinds = [
      '',
      'unknown',
      'Mastery_Gate',
      'mastery-gate',
      'mastery_gate%20',
      'mastery_gate,formative',
      '*',
    ];
    await refuseAll(kinds.map((value) => [list(`testKind=${value}`), notAllowed('testKind')]));
    const statuses = ['', 'unknown', 'Scored', 'SCORED', 'submitted', 'scored,indeterminate', '%20scored'];
    await refuseAll(statuses.map((value) => [list(`status=${value}`), notAllowed('status')]));
    await refuseAll([
      [list('testKind=formative&testKind=mastery_gate'), repeated('testKind')],
      [list('status=scored&status=scored'), repeated('status')],
    ]);
  });

  it('takes a form’s reference as any reference [RP-049, RP-050, RP-235, RP-331]', async () => {
    for (const value of ['x', 'x'.repeat(255), encodeURIComponent('é'.repeat(127)), 'a%2Fb', '..', '%2500']) {
      const reply = await send(list(`qtiTestId=${value}`));
      expect([value, refusalOf(reply)]).toEqual([value, '200']);
      expect(JSON.parse(reply.text)).toMatchObject({ data: [], nextCursor: null });
    }
    const values = [
      '',
      'x'.repeat(256),
      encodeURIComponent('é'.repeat(128)),
      'a%20b',
      'a+b',
      '%09',
      '%C2%A0',
    ];
    await refuseAll(values.map((value) => [list(`qtiTestId=${value}`), format('qtiTestId')]));
    await refuseAll([[list('qtiTestId=a&qtiTestId=b'), repeated('qtiTestId')]]);
  });

  it('takes the one sort there is; every other is an unsupported parameter [RP-048, RP-236, RP-301, RP-308]', async () => {
    expect(refusalOf(await send(list('sort=-modifiedAt')))).toBe('200');
    const values = [
      '',
      'modifiedAt',
      '%2BmodifiedAt',
      '-modifiedat',
      '-attemptId',
      '-modifiedAt,attemptId',
      '-modifiedAt%20',
      'none',
    ];
    await refuseAll(values.map((value) => [list(`sort=${value}`), unsupported('sort')]));
    await refuseAll([
      [list('sort=-modifiedAt&sort=-modifiedAt'), repeated('sort')],
      [list('sort=modifiedAt&limit=0'), unsupported('sort')],
      [list('sort=modifiedAt&testId=1'), unsupported('testId', 'sort')],
    ]);
  });

  it('takes a cursor of 1 to 2,048 characters, once, and only one that was given [RP-048, RP-134, RP-235, RP-303, RP-331]', async () => {
    const foreign = [
      'x'.repeat(2_048),
      ...words(`
      x .... null %00 eyJhbGciOiJkaXIifQ.... .. %2E%2E * %F0%9F%98%80
    `),
    ];
    await refuseAll(foreign.map((value) => [list(`cursor=${value}`), notAllowed('cursor')]));
    await refuseAll([
      [list('cursor='), notAllowed('cursor')],
      [list('cursor'), notAllowed('cursor')],
      [list(`cursor=${'x'.repeat(2_049)}`), notAllowed('cursor')],
      [list('cursor=x&cursor=x'), repeated('cursor')],
    ]);
  });

  it('with a name that the route does not know is refused by that name, and on every route [RP-008, RP-229, RP-236, RP-307]', async () => {
    for (const route of reportReads) {
      const known = Object.keys(route.request.query.shape);
      const names = words(`
        view limit sort cursor status testKind qtiTestId modifiedSince testId foo fields include offset page
        targetModule VIEW Limit __proto__ constructor toString hasOwnProperty access_token callback _
        attemptId
      `).filter((name) => !known.includes(name));
      await refuseAll(
        names.flatMap((name): [string, string][] => [
          [`${pathOf(route)}?${name}=1`, unsupported(name)],
          [`${pathOf(route)}?${name}`, unsupported(name)],
          [`${pathOf(route)}?${name}=1&${name}=1`, unsupported(name)],
        ]),
      );
    }
  });

  it('with a name that may be data is refused without repeating it [RP-307, RP-324]', async () => {
    const names = [
      'x'.repeat(65),
      ...words(`
      view[] limit%20 %20limit %00 a/b a~1b %3Cscript%3E %0D%0AX-Evil %ff é
    `),
    ];
    for (const route of reportReads) {
      for (const name of names) {
        const reply = await send(`${pathOf(route)}?${encodeURI(name).replaceAll('%25', '%')}=canary7731`);
        expect([name, refusalOf(reply)]).toEqual([
          name,
          '400 unsupported-parameter /query unsupported-parameter',
        ]);
        expect(reply.text).not.toMatch(/canary7731|script|Evil|xxxx/);
      }
    }
    await refuseAll([[list('=1'), '400 unsupported-parameter /query unsupported-parameter']]);
  });

  it('with an unknown name and invalid values is refused for the name alone, in its path too [RP-307]', async () => {
    await refuseAll([
      [attempt('view=Summary&foo=1'), unsupported('foo')],
      [attempt('view=a&view=b&foo=1'), unsupported('foo')],
      [list('limit=0&testId=1&status=unknown&cursor='), unsupported('testId')],
      [list('limit=0&b=1&a=1'), unsupported('b', 'a')],
      ['/v1/attempt-reports/a%20b?foo=1', unsupported('foo')],
      ['/v1/schools/s/grades/K/cohort-report?grade=05', unsupported('grade')],
    ]);
  });

  it('names everything that is invalid, each place once and at most a hundred [RP-329, RP-331]', async () => {
    await refuseAll([
      [
        '/v1/candidates/a%20b/attempt-reports?limit=0&testKind=unknown&status=x&modifiedSince=now&qtiTestId=&cursor=',
        [
          '400 validation /path/candidateSourcedId invalid-format',
          '/query/qtiTestId invalid-format /query/testKind not-allowed /query/status not-allowed',
          '/query/modifiedSince invalid-format /query/limit invalid-format /query/cursor not-allowed',
        ].join(' '),
      ],
    ]);
    const many = await send(list(Array.from({ length: 900 }, (_, at) => `n${at}=1`).join('&')));
    expect(reportsProblemOf(many).fieldErrors).toHaveLength(100);
  });

  it('that is empty, or holds nothing but separators, is none', async () => {
    for (const [, path] of good())
      for (const query of ['?', '?&', '?&&&']) expect(refusalOf(await send(`${path}${query}`))).toBe('200');
  });
});

describe('a request with a body', () => {
  it('is refused on every read, whatever its media type says, and the body is not read [RP-331]', async () => {
    const { calls } = await callsDuring(stack, async () => {
      for (const [route, path] of good()) {
        for (const body of ['{}', ' ', '{"canary7731":', '\0', 'x'.repeat(300_000)]) {
          for (const type of [
            'application/json',
            'application/json; charset=utf-16',
            'text/plain',
            'application/xml',
            undefined,
          ]) {
            const headers: Headers = type === undefined ? [] : [['Content-Type', type]];
            const reply = await send(path, { body, headers });
            expect([route.operationId, type, refusalOf(reply)]).toEqual([
              route.operationId,
              type,
              '400 validation /body not-allowed',
            ]);
            expect(reply.text).not.toContain('canary7731');
          }
        }
      }
    });
    expect(calls).toEqual([]);
  });

  it('of no bytes is none', async () => {
    for (const [, path] of good())
      expect(refusalOf(await send(path, { body: '', headers: [['Content-Type', 'text/plain']] }))).toBe(
        '200',
      );
  });
});

describe('what is not served', () => {
  it('is one and the same 404 problem, with a token and without: unknown paths, other methods, other versions [RP-223, RP-224]', async () => {
    const paths = [
      '',
      ...words(`
      /v1 /v1/ / /v2/attempt-reports/a /V1/attempt-reports/a /attempt-reports/a /v1/attempt-reports
      /v1/attempt-reports/ /v1//attempt-reports/a /v1/attempt-reports//readiness /v1/attempt-reports/a/
      /v1/attempt-reports/a/Readiness /v1/attempt-reports/a/readiness/x /v1/attempt-reports/a/evidence
      /v1/attempt-reports%2Fa /v1/candidates /v1/candidates/a /v1/candidates//attempt-reports
      /v1/classes/a /v1/schools/a/cohort-report /v1/schools/a/grades//cohort-report
      /v1/schools/a/grades/0/5/cohort-report /v1/forms/a /v1/forms/a/equivalence/ /v1/webhooks
      /v1/../v1/forms /v1/attempt-reports/../forms/a/equivalence /.env /v1/%2e%2e/_control/state
    `),
    ];
    const distinct = new Set<string>();
    const note = (what: string, reply: GatewayReply): void => {
      expect([what, refusalOf(reply)]).toEqual([what, '404 not-found']);
      distinct.add(JSON.stringify(indistinguishable(reply)));
    };
    const { calls } = await callsDuring(stack, async () => {
      for (const path of paths) {
        note(path, await send(path));
        note(path, await callRaw(stack.urls.reportsUrl, path));
      }
      for (const [route, path] of good()) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
          if (method !== route.method) {
            note(`${method} ${path}`, await send(path, { method }));
            note(`${method} ${path}`, await callRaw(stack.urls.reportsUrl, path, { method, body: '{}' }));
          }
        expect((await send(path, { method: 'HEAD' })).status).toBe(404);
      }
    });
    expect(calls).toEqual([]);
    expect([...distinct]).toHaveLength(1);
  });
});

/** What an answer says beside its ids and times. */
function factsOf({ text }: GatewayReply): unknown {
  const stamps = ['requestId', 'traceId', 'observedAt', 'nextCursor'];
  return JSON.parse(text, (name, value: unknown) =>
    stamps.includes(name) ? typeof value : value,
  ) as unknown;
}

describe('headers that a read has no use for', () => {
  const noise: readonly (readonly [string, Headers])[] = [
    ['Accept text/html', [['Accept', 'text/html']]],
    ['Accept nothing', [['Accept', '']]],
    ['Accept everything but JSON', [['Accept', 'application/json;q=0, */*;q=0, text/csv']]],
    ['Accept of 8 KB', [['Accept', ';,=q"'.repeat(1_600)]]],
    [
      'two Accept',
      [
        ['Accept', 'text/html'],
        ['Accept', 'application/pdf'],
      ],
    ],
    ['a condition', [['If-None-Match', '*']]],
    [
      'conditions',
      [
        ['If-Match', '"x"'],
        ['If-Modified-Since', 'now'],
        ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
      ],
    ],
    [
      'a range',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', '"x"'],
      ],
    ],
    [
      'a key',
      [
        ['Idempotency-Key', 'a b'],
        ['Idempotency-Key', ''],
      ],
    ],
    [
      'another host',
      [
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'host=evil.example;proto=http'],
        ['X-Original-URL', '/v1/forms/a/equivalence'],
      ],
    ],
    [
      'another method',
      [
        ['X-HTTP-Method', 'DELETE'],
        ['X-Method-Override', 'PUT'],
      ],
    ],
    [
      'odd bytes',
      [
        ['X-Odd', '\u00ff\u0080\u00a0'],
        ['Cookie', 'a=b; a=c'],
        ['X-', '1'],
      ],
    ],
    ['9 KB in one', [['X-Long', 'x'.repeat(9_000)]]],
    ['100 more', Array.from({ length: 100 }, (_, at) => [`X-${at}`, 'x'.repeat(60)] as const)],
    [
      'a trace that is none',
      [
        ['traceparent', '00-00000000000000000000000000000000-0000000000000000-01'],
        ['X-Amzn-Trace-Id', '=;='],
      ],
    ],
  ];

  it('change nothing in the answer [RP-224]', async () => {
    for (const [, path] of good()) {
      const plain = await send(path);
      expect(plain.status).toBe(200);
      for (const [what, headers] of noise) {
        const reply = await send(path, { headers });
        expect([what, reply.status, reply.headers.get('content-type')]).toEqual([
          what,
          200,
          'application/json',
        ]);
        expect(reply.headers.get('cache-control')).toBe('no-store');
        expect(factsOf(reply)).toEqual(factsOf(plain));
        expect(reply.text).not.toContain('evil');
      }
    }
  });

  it('nor in a refusal, which is JSON and never compressed [RP-224, RP-331]', async () => {
    for (const [route, path] of good()) {
      for (const [what, headers] of [...noise, ['gzip', [['Accept-Encoding', 'gzip']]] as const]) {
        const reply = await send(`${path}?foo=1`, { headers });
        expect([route.operationId, what, refusalOf(reply)]).toEqual([
          route.operationId,
          what,
          '400 unsupported-parameter /query/foo unsupported-parameter',
        ]);
        expect(reply.headers.get('content-encoding')).toBeNull();
      }
    }
  });

  it('the one that would override the method is refused [RP-224]', async () => {
    for (const [, path] of good()) {
      const { result, calls } = await callsDuring(stack, () =>
        send(path, { headers: [['X-HTTP-Method-Override', 'DELETE']] }),
      );
      expect(result.status).toBeGreaterThanOrEqual(400);
      expect(result.headers.get('content-type')).toBe('application/problem+json');
      expect(calls).toEqual([]);
    }
  });
});

describe('Accept-Encoding', () => {
  const gzip: readonly Headers[] = [
    ['gzip'],
    ['GZIP'],
    ['x-gzip'],
    ['gzip;q=1'],
    ['gzip;q=0.001'],
    ['gzip ; q=0.5'],
    ['*'],
    ['*;q=0.1'],
    ['br, gzip'],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1'],
    ['identity;q=0, gzip;q=0.1'],
    ['identity;q=0.5, *;q=0.5'],
    [',,gzip,,'],
    ['br', 'gzip'],
    ['gzip;q=nonsense, *'],
  ].map(headersOf);
  const plain: readonly Headers[] = [
    [],
    [''],
    ['identity'],
    ['br'],
    ['deflate, br, zstd'],
    ['gzip;q=0'],
    ['gzip;q=0.0'],
    ['gzip;q=0.000'],
    ['x-gzip;q=0'],
    ['gzip;q=0, *'],
    ['gzip;q=0, gzip'],
    ['*;q=0'],
    ['gzip;q=0.5, identity'],
    ['gzip;q=2'],
    ['gzip;q=-1'],
    ['gzip;q=nonsense'],
    ['gzip;level=9'],
    ['gzip q=1'],
    ['gzipx'],
    ['"gzip"'],
    ['identity;q=0'],
    ['br;q=0, identity;q=0'],
    [';q=1'],
    ['q=1'],
    [`gzip${' '.repeat(8_000)}x`],
    ['gzip;'.repeat(1_600)],
    ['x'.repeat(8_000)],
    [';,=q"'.repeat(1_600)],
    [`${'br,'.repeat(2_600)}br`],
  ].map(headersOf);

  it('decides how a streamed answer is sent, and nothing of what it says', async () => {
    for (const route of [readAttemptReport, listCandidateReports]) {
      const path = pathOf(route);
      const facts = factsOf(await send(path));
      for (const [coding, table] of [
        ['gzip', gzip],
        [null, plain],
      ] as const) {
        for (const headers of table) {
          const reply = await send(path, { headers });
          const sent = headers.map(([, value]) => value.slice(0, 60));
          expect([sent, reply.status, reply.headers.get('content-encoding')]).toEqual([sent, 200, coding]);
          expect(reply.headers.get('vary')).toBe('Accept-Encoding');
          expect(factsOf(reply)).toEqual(facts);
        }
      }
    }
  });

  it('is nothing to an answer that is sent whole', async () => {
    for (const [route, path] of good()) {
      if (route.success.transfer === 'stream') continue;
      for (const headers of [...gzip, ...plain]) {
        const reply = await send(path, { headers });
        expect([reply.status, reply.headers.get('content-encoding')]).toEqual([200, null]);
      }
    }
  });
});

function headersOf(values: readonly string[]): Headers {
  return values.map((value) => ['Accept-Encoding', value] as const);
}
