import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptFacts, ReadinessFacts } from '#functions/reports/facts/facts.ts';
import type { Result } from '#shared/kernel/result.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { principalWith } from '#test/support/principal.ts';
import { anExampleOf, attemptFacts, readinessFacts } from '#test/support/report-facts.ts';
import { scriptedOwners } from '#test/support/scripted-owners.ts';
import type { OperationName, Script, Scripted, ScriptedOwners } from '#test/support/scripted-owners.ts';
import { readAttempt } from './attempt.ts';
import { createFrameworks } from './case-package.ts';
import { createSourceReader } from './reader.ts';
import { notFound } from './problems.ts';
import { readReadinessFacts } from '../endpoints/read-readiness/operation.ts';

const profile = { tenantId: 'tenant-1', baseUrl: 'https://platform.example' };
const EVENT = 'urn:uuid:7a2c3f9e-0000-4000-8000-000000000001';

/** Everything that the owners hold of one gate, with a crosswalk. */
const sound = (() => {
  const facts = anExampleOf(attemptFacts(fc.constant('mastery_gate')));
  const evidence = facts.evidence.value;
  const record = { ...facts.record.value, completionEventIri: EVENT };
  const criteria = facts.criteria.value;
  const crosswalks = {
    ...anExampleOf(readinessFacts).crosswalks.value,
    testSpecId: criteria.testSpecId,
    testSpecVersion: criteria.version,
  };
  const candidateSourcedId = evidence.candidateSourcedId;
  return {
    evidence,
    record,
    criteria,
    crosswalks,
    user: { user: { sourcedId: candidateSourcedId, status: 'active' } },
    package: {
      CFDocument: {
        identifier: criteria.caseFrameworkGuid,
        lastChangeDateTime: facts.framework.value.changedAt,
      },
      CFItems: [...facts.framework.value.guids].map((identifier) => ({ identifier })),
      CFAssociations: [],
    },
    event: {
      tenantId: 'tenant-1',
      eventIri: EVENT,
      event: {
        '@context': 'http://purl.imsglobal.org/ctx/caliper/v1p2',
        id: EVENT,
        type: 'GradeEvent',
        actor: { id: 'urn:a', type: 'SoftwareApplication' },
        action: 'Graded',
        object: { id: 'urn:o', type: 'Attempt' },
        eventTime: '2026-01-01T00:00:00.000Z',
      },
    },
  };
})();

const caller = principalWith({ studentIds: [sound.evidence.candidateSourcedId] });

const script = {
  readAttemptEvidence: { value: sound.evidence },
  readSettledRecord: { value: sound.record },
  readReportCriteria: { value: sound.criteria },
  readUser: { value: sound.user },
  readPackage: { value: sound.package },
  readEvidenceAck: { value: sound.event },
  readReadinessCrosswalks: { value: sound.crosswalks },
} satisfies Script;

interface Read<Facts> {
  readonly owners: ScriptedOwners;
  readonly result: Result<Facts, Problem>;
}

async function attempt(
  changes: Script = {},
  { principal = caller, attemptId = sound.evidence.attemptId } = {},
): Promise<Read<AttemptFacts>> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const frameworks = createFrameworks().of(profile);
  return { owners, result: await readAttempt(reader, frameworks, principal, attemptId) };
}

async function readiness(changes: Script = {}): Promise<Read<ReadinessFacts>> {
  const owners = scriptedOwners({ ...script, ...changes });
  const reader = createSourceReader(owners, () => 1);
  const frameworks = createFrameworks().of(profile);
  const { attemptId } = sound.evidence;
  return { owners, result: await readReadinessFacts({ reader, frameworks }, caller, attemptId) };
}

/** A result in one line. */
function said({ result }: Read<unknown>): string {
  if (result.ok) return 'facts';
  const { status, code, dependency } = result.error;
  return [status, code, ...(dependency === undefined ? [] : [dependency])].join(' ');
}

const wave1: readonly OperationName[] = ['readAttemptEvidence'];
const wave2: readonly OperationName[] = ['readReportCriteria', 'readSettledRecord', 'readUser'];
const wave3: readonly OperationName[] = ['readEvidenceAck', 'readPackage'];

describe('an attempt on which everybody agrees', () => {
  it('is read in three waves, each source once, with a receipt for each [RP-001, RP-069]', async () => {
    const waves: OperationName[][] = [];
    let open: OperationName[] | undefined;
    // Whatever is asked before the first answer of a wave arrives belongs to that wave.
    const owners = scriptedOwners(script, async (answer, name) => {
      if (open === undefined) waves.push((open = []));
      open.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      open = undefined;
      return answer;
    });
    const reader = createSourceReader(owners, () => 1);
    const facts = await readAttempt(reader, createFrameworks().of(profile), caller, sound.evidence.attemptId);
    expect(waves.map((names) => names.toSorted())).toEqual([wave1, wave2, wave3]);
    if (!facts.ok) throw new Error(facts.error.code);
    const { evidence, record, criteria, candidate, framework, enrichments } = facts.value;
    expect(
      [evidence.receipt, record.receipt, criteria.receipt, candidate, framework.receipt].map(
        ({ service, resourceId, version, status }) => [service, resourceId, version, status],
      ),
    ).toEqual([
      ['qti', sound.evidence.attemptId, sound.evidence.version, 'current'],
      ['results', sound.record.resultRecordId, sound.record.version, 'current'],
      ['content', sound.criteria.testSpecId, sound.criteria.version, 'current'],
      ['oneroster', sound.evidence.candidateSourcedId, null, 'current'],
      ['case', sound.criteria.caseFrameworkGuid, null, 'current'],
    ]);
    expect(enrichments).toMatchObject([{ receipt: { service: 'caliper', resourceId: EVENT } }]);
  });

  it('is asked about by the ids and versions that the lookup names [RP-005]', async () => {
    const { owners } = await attempt();
    const calls = Object.fromEntries(owners.asked.map(({ name, call }) => [name, call]));
    expect(calls).toMatchObject({
      readAttemptEvidence: { path: { attemptId: sound.evidence.attemptId } },
      readSettledRecord: { path: { resultRecordId: sound.evidence.resultRecordId } },
      readReportCriteria: {
        path: { testSpecId: sound.evidence.contentTestSpecId },
        query: { version: sound.evidence.contentTestSpecVersion },
      },
      readUser: { path: { sourcedId: sound.evidence.candidateSourcedId } },
      readPackage: { path: { sourcedId: sound.criteria.caseFrameworkGuid } },
      readEvidenceAck: { query: { eventIri: EVENT } },
    });
  });

  it('is read for readiness with the crosswalks, and Caliper is not asked', async () => {
    const { owners, result } = await readiness();
    expect(result.ok).toBe(true);
    expect(owners.names()).toEqual([...wave1, 'readReadinessCrosswalks', ...wave2, 'readPackage'].toSorted());
  });

  it('is read for readiness without a framework that CASE does not hold, and with a receipt that says so [RP-118]', async () => {
    const { result } = await readiness({ readPackage: { kind: 'not-found' } });
    expect(result).toMatchObject({
      ok: true,
      value: { framework: { receipt: { service: 'case', version: null, status: 'unavailable' } } },
    });
    expect(said(await readiness({ readPackage: { kind: 'unavailable' } }))).toBe(
      '503 dependency-unavailable case',
    );
  });

  it('shows how fresh the lookup is [RP-087]', async () => {
    const { result } = await attempt({
      readAttemptEvidence: { value: { ...sound.evidence, freshness: 'stale' } },
    });
    expect(result.ok && result.value.evidence.receipt.status).toBe('stale');
  });
});

describe('an attempt whose candidate the claims do not name', () => {
  const strangers = [
    principalWith({ studentIds: [] }),
    principalWith({ studentIds: [`${sound.evidence.candidateSourcedId}x`] }),
    principalWith({
      classSourcedIds: [sound.evidence.candidateSourcedId],
      schoolSourcedIds: [sound.evidence.candidateSourcedId],
      administrationIds: [sound.evidence.administrationId],
    }),
  ];

  it.each(strangers)(
    'is the very 404 of one that is not there, and nobody else is asked: %j [RP-058, RP-316]',
    async (principal) => {
      const foreign = await attempt({}, { principal });
      const absent = await attempt({ readAttemptEvidence: { kind: 'not-found' } });
      expect(foreign.result).toEqual({ ok: false, error: notFound() });
      expect(absent.result).toEqual(foreign.result);
      expect(foreign.owners.names()).toEqual(wave1);
    },
  );

  it('is that 404 whatever else the lookup says, however wrong it is [RP-316]', async () => {
    const { tenantId, attemptId, candidateSourcedId, ...rest } = sound.evidence;
    const spoilt = fc
      .record({
        members: fc.subarray(Object.keys(rest)),
        value: fc.oneof(fc.constant(null), fc.constant(undefined), fc.string(), fc.integer()),
        attemptId: fc.constantFrom(attemptId, 'another-attempt'),
      })
      .map(({ members, value, attemptId: answered }) => ({
        ...rest,
        ...Object.fromEntries(members.map((member) => [member, value])),
        tenantId,
        attemptId: answered,
        candidateSourcedId,
      }));
    await fc.assert(
      fc.asyncProperty(spoilt, fc.constantFrom(...strangers), async (value, principal) => {
        const read = await attempt({ readAttemptEvidence: { value } }, { principal });
        expect(read.result).toEqual({ ok: false, error: notFound() });
        expect(read.owners.names()).toEqual(wave1);
      }),
    );
  });
});

describe('an answer about something else than was asked', () => {
  const other = 'something-else';
  const cases: readonly (readonly [string, Script, string])[] = [
    [
      'the lookup, of the attempt',
      { readAttemptEvidence: { value: { ...sound.evidence, attemptId: other } } },
      'qti',
    ],
    ...(['resultRecordId', 'attemptId', 'candidateSourcedId', 'contentTestSpecId'] as const).map(
      (member): readonly [string, Script, string] => [
        `the record, of the ${member}`,
        { readSettledRecord: { value: { ...sound.record, [member]: other } } },
        'results',
      ],
    ),
    [
      'the criteria, of the test spec',
      { readReportCriteria: { value: { ...sound.criteria, testSpecId: other } } },
      'content',
    ],
    [
      'the roster, of the user',
      { readUser: { value: { user: { sourcedId: other, status: 'active' } } } },
      'oneroster',
    ],
    [
      'the framework, of the document',
      {
        readPackage: {
          value: { ...sound.package, CFDocument: { ...sound.package.CFDocument, identifier: other } },
        },
      },
      'case',
    ],
  ];

  it.each(cases)('%s, is none [RP-028]', async (_, changes, owner) => {
    expect(said(await attempt(changes))).toBe(`503 dependency-unavailable ${owner}`);
  });

  it('the crosswalks, of the test spec, is none [RP-028]', async () => {
    const changes = { readReadinessCrosswalks: { value: { ...sound.crosswalks, testSpecId: other } } };
    expect(said(await readiness(changes))).toBe('503 dependency-unavailable blueprint');
  });

  it('a lookup that is not what QTI promises is none, once the candidate is visible', async () => {
    expect(
      said(await attempt({ readAttemptEvidence: { value: { ...sound.evidence, version: undefined } } })),
    ).toBe('503 dependency-unavailable qti');
  });
});

describe('the join that gate C stands for', () => {
  const without = (value: object, member: string): Scripted => ({
    value: Object.fromEntries(Object.entries(value).filter(([name]) => name !== member)),
  });

  it.each([
    'candidateSourcedId',
    'administrationId',
    'qtiSessionId',
    'qtiTestId',
    'outcomes',
    'administeredItemCount',
    'contentTestSpecId',
    'contentTestSpecVersion',
    'resultRecordId',
    'resultRecordVersion',
  ])(
    'is none without the %s of the lookup: nothing is read in its place [RP-022, RP-027]',
    async (member) => {
      const read = await attempt({ readAttemptEvidence: without(sound.evidence, member) });
      expect(said(read)).toBe('503 dependency-unavailable qti');
      expect(read.owners.names()).toEqual(wave1);
    },
  );

  it.each(['testKind', 'gate', 'diagnostic', 'mastery', 'score', 'candidateSourcedId', 'contentTestSpecId'])(
    'is none without the %s that Results holds: the lookup alone is not enough [RP-022]',
    async (member) => {
      const read = await attempt({ readSettledRecord: without(sound.record, member) });
      expect(said(read)).toBe('503 dependency-unavailable results');
    },
  );

  it.each([
    ['readSettledRecord', 'results'],
    ['readReportCriteria', 'content'],
  ] as const)('is none when what the lookup names is not there: %s [RP-022]', async (name, owner) => {
    const read = await attempt({ [name]: { kind: 'not-found', status: 404 } });
    expect(said(read)).toBe(`503 dependency-incomplete ${owner}`);
  });
});

describe('an attempt that is not settled', () => {
  it.each([
    [{ resultRecordId: null, resultRecordVersion: null }, 'results'],
    [{ status: 'submitted', resultRecordId: null, resultRecordVersion: null }, 'results'],
    [{ status: 'submitted' }, 'qti'],
  ])('%j is incomplete at %s, and nothing further is asked [RP-062, RP-063]', async (changes, owner) => {
    const read = await attempt({ readAttemptEvidence: { value: { ...sound.evidence, ...changes } } });
    expect(said(read)).toBe(`503 dependency-incomplete ${owner}`);
    expect(read.owners.names()).toEqual(wave1);
  });

  it('of a candidate who is leaving the roster is incomplete at OneRoster', async () => {
    const leaving = { user: { ...sound.user.user, status: 'tobedeleted' } };
    expect(said(await attempt({ readUser: { value: leaving } }))).toBe('503 dependency-incomplete oneroster');
  });
});

describe('versions that do not belong together', () => {
  const evidence = (changes: object): Scripted => ({ value: { ...sound.evidence, ...changes } });
  const record = (changes: object): Scripted => ({ value: { ...sound.record, ...changes } });
  const criteria = (changes: object): Scripted => ({ value: { ...sound.criteria, ...changes } });
  const crosswalks = (changes: object): Scripted => ({ value: { ...sound.crosswalks, ...changes } });
  const otherThreshold = { criteria: { criteriaVersion: 'criteria-1', required: 0.75 } };
  const gate = { ...sound.record.gate, criteriaVersion: 'criteria-1', required: 0.7 };

  /** What differs at first, how the owners settle on it, and who is named when they do not. */
  const cases: readonly {
    readonly what: string;
    readonly first: Script;
    readonly then: Script;
    readonly owner: string;
  }[] = [
    {
      what: 'Results has written since the lookup',
      first: { readSettledRecord: record({ version: 'newer' }) },
      then: {
        readSettledRecord: record({ version: 'newer' }),
        readAttemptEvidence: evidence({ resultRecordVersion: 'newer' }),
      },
      owner: 'results',
    },
    {
      what: 'the record was settled under a newer version of the test spec',
      first: { readSettledRecord: record({ contentTestSpecVersion: 'newer' }) },
      then: {
        readSettledRecord: record({ contentTestSpecVersion: 'newer' }),
        readAttemptEvidence: evidence({ contentTestSpecVersion: 'newer' }),
        readReportCriteria: criteria({ version: 'newer' }),
      },
      owner: 'results',
    },
    {
      what: 'Content answers another version than it was asked for',
      first: { readReportCriteria: criteria({ version: 'other' }) },
      then: { readReportCriteria: criteria({}) },
      owner: 'content',
    },
    {
      what: 'Results decided under another threshold than Content holds',
      first: { readSettledRecord: record({ gate }), readReportCriteria: criteria(otherThreshold) },
      then: {
        readSettledRecord: record({ gate: { ...gate, required: 0.75 } }),
        readReportCriteria: criteria(otherThreshold),
      },
      owner: 'results',
    },
  ];
  const again = [...wave1, 'readReportCriteria', 'readSettledRecord'] as const;
  const inTurn = (first: Script, then: Script): Script => {
    const names = [...new Set([...Object.keys(first), ...Object.keys(then)])] as OperationName[];
    return Object.fromEntries(
      names.map((name) => [name, [first[name] ?? script[name as keyof typeof script], then[name]].flat()]),
    );
  };

  it.each(cases)('are read once more: $what [RP-028]', async ({ first, then }) => {
    const read = await attempt(inTurn(first, then));
    expect(said(read)).toBe('facts');
    expect(read.owners.names()).toEqual([...wave1, ...wave2, ...wave3, ...again].toSorted());
  });

  it.each(cases)(
    'are a conflict after one more read, and nothing further is asked: $what [RP-232, RP-333]',
    async ({ first, owner }) => {
      const read = await attempt(first);
      expect(said(read)).toBe(`409 source-version-conflict ${owner}`);
      expect(read.owners.names()).toEqual([...wave1, ...wave2, ...again].toSorted());
    },
  );

  it('the second time, criteria are asked for in the version that the newer record names', async () => {
    const { owners } = await attempt({ readSettledRecord: record({ contentTestSpecVersion: 'newer' }) });
    const versions = owners.asked
      .filter(({ name }) => name === 'readReportCriteria')
      .map(({ call }) => call.query?.['version']);
    expect(versions).toEqual([sound.evidence.contentTestSpecVersion, 'newer']);
  });

  it('count for crosswalks too [RP-251, RP-333]', async () => {
    const other = crosswalks({ testSpecVersion: 'other' });
    expect(said(await readiness({ readReadinessCrosswalks: [other, crosswalks({})] }))).toBe('facts');
    const read = await readiness({ readReadinessCrosswalks: other });
    expect(said(read)).toBe('409 source-version-conflict blueprint');
    expect(read.owners.asked).toHaveLength(9);
  });

  const drifting = { readSettledRecord: record({ version: 'newer' }) };

  it.each([
    [{ resultRecordId: 'another-record', resultRecordVersion: 'newer' }],
    [{ contentTestSpecId: 'another-spec', resultRecordVersion: 'newer' }],
    [{ candidateSourcedId: 'another-student', resultRecordVersion: 'newer' }],
  ])('are a conflict of QTI when the attempt lies elsewhere by then: %j [RP-333]', async (moved) => {
    // Both candidates are the caller's to see: what is refused is one candidate's attempt with the other's receipt.
    const principal = principalWith({ studentIds: [sound.evidence.candidateSourcedId, 'another-student'] });
    const read = await attempt(
      { ...drifting, readAttemptEvidence: [evidence({}), evidence(moved)] },
      { principal },
    );
    expect(said(read)).toBe('409 source-version-conflict qti');
  });

  it('are none of a caller’s business who may not see the candidate any more [RP-316]', async () => {
    const handedOver = evidence({ candidateSourcedId: 'another-student', resultRecordVersion: 'newer' });
    const read = await attempt({ ...drifting, readAttemptEvidence: [evidence({}), handedOver] });
    expect(read.result).toEqual({ ok: false, error: notFound() });
  });

  it.each([
    [{ readAttemptEvidence: [evidence({}), { kind: 'unavailable' }] }, '503 dependency-unavailable qti'],
    [{ readAttemptEvidence: [evidence({}), { kind: 'not-found' }] }, '404 not-found'],
    [{ readReportCriteria: [criteria({}), { kind: 'unavailable' }] }, '503 dependency-unavailable content'],
    [
      { readAttemptEvidence: [evidence({}), evidence({ resultRecordId: null, resultRecordVersion: null })] },
      '409 source-version-conflict qti',
    ],
  ] as const)('fail as any read when the second one fails: %j is %s', async (changes, expected) => {
    expect(said(await attempt({ ...drifting, ...changes }))).toBe(expected);
  });
});

describe('reads that fail side by side', () => {
  const owners: Readonly<Partial<Record<OperationName, string>>> = {
    readSettledRecord: 'results',
    readReportCriteria: 'content',
    readUser: 'oneroster',
  };
  const failing = fc.subarray(Object.keys(owners) as OperationName[], { minLength: 1 });
  const kind = fc.constantFrom(
    'unavailable',
    'malformed',
    'rejected',
    'wrong-tenant',
    'conflict',
    'not-found',
  );

  it('name the first owner in the order of receipts, whichever answers first [RP-017]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), failing, kind, async (scheduler, names, fault) => {
        const changes = Object.fromEntries(names.map((name) => [name, { kind: fault }]));
        const platform = scriptedOwners({ ...script, ...changes }, (answer) =>
          scheduler.schedule(Promise.resolve(answer)),
        );
        const reader = createSourceReader(platform, () => 1);
        const reading = readAttempt(reader, createFrameworks().of(profile), caller, sound.evidence.attemptId);
        await scheduler.waitIdle();
        const first = Object.keys(owners).find((name) => names.includes(name as OperationName))!;
        const code = fault === 'not-found' ? 'dependency-incomplete' : 'dependency-unavailable';
        expect(await reading).toMatchObject({
          ok: false,
          error: { status: 503, code, dependency: owners[first as OperationName] },
        });
      }),
    );
  });
});

describe('the event that published the result', () => {
  it('is not asked for when Results names none', async () => {
    const { owners, result } = await attempt({
      readSettledRecord: { value: { ...sound.record, completionEventIri: null } },
    });
    expect(owners.names()).not.toContain('readEvidenceAck');
    expect(result.ok && result.value.enrichments).toEqual([]);
  });

  it('is waited for 1.5 s at most', async () => {
    const { owners } = await attempt();
    expect(owners.asked.find(({ name }) => name === 'readEvidenceAck')?.call.timeLimit).toBe(1_500);
  });

  it.each<[string, Scripted, string]>([
    ['does not come', { kind: 'unavailable' }, 'dependency-unavailable'],
    ['is not there', { kind: 'not-found' }, 'dependency-incomplete'],
    ['is no event', { value: {} }, 'dependency-unavailable'],
    ['is another one', { value: { ...sound.event, eventIri: 'urn:uuid:another' } }, 'dependency-unavailable'],
  ])(
    'leaves a receipt that says so and a problem when it %s, and the report goes on [RP-069, RP-071, RP-087]',
    async (_, answer, code) => {
      const { result } = await attempt({ readEvidenceAck: answer });
      expect(result.ok && result.value.enrichments).toMatchObject([
        {
          receipt: { service: 'caliper', resourceId: EVENT, version: null, status: 'unavailable' },
          problem: { code, dependency: 'caliper' },
        },
      ]);
    },
  );
});
