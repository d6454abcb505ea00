import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { changed } from '#test/support/changed.ts';
import { blockedCatalog, pointersOf, readyCatalog, withChange, withHash } from '#test/support/catalog.ts';
import { checkCatalog, checkCatalogForm, MAX_DEFECTS } from './check.ts';

const docs = join(import.meta.dirname, '../../docs');
const source = 'source_assessments/1';
const standard = `${source}/tested_standard_inventory/0`;
const manifest = `${source}/public_inventory_cell_binding_manifest`;
const binding = `${manifest}/bindings/0`;
const calibration = `${source}/calibration`;
const bindings = `${calibration}/empirical_revision_bindings`;
const results = `${bindings}/results`;
const lifecycle = 'calibration_lifecycle_contract/';
const behavior = 'release_behavior/';

/** Where a blocked catalog is refused after one change; its hash is brought up to date. */
const after = (path: string, to: unknown): readonly string[] =>
  pointersOf(withChange(blockedCatalog(), path, to));
const identity = [
  'tenant_id',
  'source_key',
  'content_test_spec_id',
  'content_version_id',
  'calibration_target_id',
];

const anything = [null, false, 0, '', [], {}, { deep: [1] }];
const noObject = [null, [], 'x'];
const noText = [null, 7, ['x']];
const noTextOrEmpty = ['', null, 7];
const noCount = [0, -1, 0.5, '1', null, 9007199254740992];
const blockedSource = 'blocked_missing_public_inventory_bindings';
const blockedManifest = 'blocked_missing_owner_approved_bindings';
const sources = blockedCatalog()['source_assessments'] as readonly unknown[];
const numbered = (count: number): readonly unknown[] => Array<unknown>(count).fill(sources[1]);
const bound = Array<unknown>(500).fill(
  (sources as readonly { public_inventory_cell_binding_manifest: { bindings: unknown[] } }[])[1]!
    .public_inventory_cell_binding_manifest.bindings[0],
);
const hash = String(blockedCatalog()['catalog_revision_hash']);

/** By rule, place and names: values that members which have to be there take, and values that are refused in their place. */
const table: Readonly<Record<string, readonly [taken: readonly unknown[], refused: readonly unknown[]]>> = {
  'RC-005  schema_version': [
    [6, 6.0],
    [5, 7, '6', 6.5, null, [6]],
  ],
  'RC-006  release_state': [[], ['blocked', 'READY', blockedSource, '', null, true]],
  'RC-007  catalog_revision_hash': [
    [hash],
    [hash.toUpperCase(), hash.slice(1), `${hash}0`, `${hash}\n`, `${hash.slice(1)}g`, '', null, 7],
  ],
  'RC-008  catalog_revision_hash_scope': [['x', 'all of it'], noTextOrEmpty],
  'RC-010  calibration_lifecycle_contract': [[], noObject],
  [`RC-010 ${lifecycle} identity_fields initial_creation_evidence cardinality promotion_rule`]: [
    anything,
    [],
  ],
  [`RC-011 ${lifecycle} empirical_revision_owners`]: [
    [],
    [['results'], [], ['results', 'analytics', 'content'], 'results,analytics', { 0: 'results' }],
  ],
  'RC-013  source_assessments': [
    [numbered(2), numbered(50)],
    [numbered(1), numbered(51), [], {}, null],
  ],
  'RC-014  release_behavior': [[], noObject],
  [`RC-014 ${behavior} quickstart_state ready_gate failure_atomicity empirical_revision_trigger`]: [
    anything,
    [],
  ],
  [`RC-015 ${behavior} create_http_status`]: [[503], [200, 404, '503', null, 503.5]],
  [`RC-015 ${behavior} operation_created`]: [[false], ['false', 0, null]],
  'RC-019 source_assessments/ 1': [[], noObject],
  [`RC-019 ${source}/ ${identity.slice(0, 4).join(' ')}`]: [['', 'x'], noText],
  [`RC-019 ${source}/ public_inventory_cell_binding_manifest calibration`]: [[], noObject],
  [`RC-020 ${source}/ release_state`]: [
    ['ready', blockedSource],
    ['blocked', blockedManifest, null],
  ],
  [`RC-021 ${source}/ tested_standard_inventory`]: [[], [[], {}, null, 'x']],
  [`RC-023 ${standard}/ source_standard_code label evidence_locator runtime_mapping_disposition`]: [
    ['x'],
    noTextOrEmpty,
  ],
  [`RC-024 ${standard}/ dok`]: [
    [1, 2, 3, 4, 'unstated'],
    [null, 0, 5, 1.5, '2', '5', 'Unstated', '', true],
  ],
  [`RC-026 ${manifest}/ state`]: [
    ['ready', blockedManifest],
    ['blocked', blockedSource, null],
  ],
  [`RC-027 ${manifest}/ authority authority_version`]: [
    [null, '', 'office'],
    [7, false, []],
  ],
  [`RC-028 ${manifest}/ expected_public_row_count expected_positive_content_cell_count`]: [
    [1, 2.0, 9007199254740991],
    noCount,
  ],
  [`RC-029 ${manifest}/ bindings`]: [
    [[], bound],
    [null, {}, 'x'],
  ],
  [`RC-031 ${manifest}/bindings/ 0`]: [[], noObject],
  [`RC-032 ${binding}/ source_key public_row_code content_test_spec_id content_version_id`]: [
    ['x'],
    noTextOrEmpty,
  ],
  [`RC-032 ${binding}/ source_case_guid binding_authority binding_authority_version approved_by evidence_ref`]:
    [['x'], noTextOrEmpty],
  [`RC-033 ${binding}/ source_dok`]: [
    [1, 2, 3, 4],
    ['unstated', 0, 5, 2.5, '2', null],
  ],
  [`RC-034 ${binding}/ source_cell_count`]: [[1, 7.0], noCount],
  [`RC-035 ${binding}/ approved_at`]: [
    ['2026-04-17T09:30:00Z', '2026-04-17T09:30:00.5+05:30'],
    ['2026-04-17', '2026-02-30T09:30:00Z', '2026-04-17T09:30:00', '', null, 1776418200],
  ],
  [`RC-037 ${calibration}/ calibration_target_id calibration_policy_version scoring_policy_ref approval`]: [
    anything,
    [],
  ],
  [`RC-039 ${calibration}/ metric`]: [[], ['raw_score_percent', '', null]],
  [`RC-039 ${calibration}/ target_value`]: [[100.0], [99, 101, '100', null]],
  [`RC-039 ${calibration}/ relation`]: [[], ['mastery_implies', '', null]],
  [`RC-040 ${calibration}/ empirical_revision_bindings`]: [[], noObject],
  [`RC-040 ${bindings}/ results analytics`]: [[], noObject],
  [`RC-041 ${results}/ native_reference_id receipt_ref`]: [
    [null, '', 'ref-1'],
    [7, false, {}],
  ],
  [`RC-042 ${results}/ expected_identity`]: [[], noObject],
  [`RC-042 ${results}/expected_identity/ ${identity.join(' ')}`]: [['x'], noTextOrEmpty],
  [`RC-043 ${results}/ dereference_route credential_slot state`]: [anything, []],
};
const members = Object.entries(table).map(([key, [taken, refused]]) => {
  const [rule = '', at = '', ...names] = key.split(' ');
  return [rule, at, names, taken, refused] as const;
});

describe('a release catalog', () => {
  it('is one record with sources, inventory, bindings and calibration targets, blocked or ready [RC-001]', () => {
    expect(pointersOf(blockedCatalog())).toEqual([]);
    expect(pointersOf(readyCatalog())).toEqual([]);
    const gone = ['tested_standard_inventory', 'public_inventory_cell_binding_manifest', 'calibration'];
    for (const name of gone) expect(after(`${source}/${name}`, undefined)).toEqual([`/${source}/${name}`]);
  });

  it.each([undefined, null, 7, 'x', true, [], [[]]])('is an object, which %j is not', (value) => {
    expect(pointersOf(value)).toEqual(['']);
  });

  it.each(members)('%s: has in "%s" the members %j', (_rule, at, names, taken, refused) => {
    for (const path of names.map((name) => at + name)) {
      if (!/\/\d+$/.test(path)) expect(after(path, undefined), path).toEqual([`/${path}`]);
      for (const value of taken) expect(after(path, value), `${path} ${JSON.stringify(value)}`).toEqual([]);
      for (const value of refused)
        expect(after(path, value), `${path} ${JSON.stringify(value)}`).toEqual([`/${path}`]);
    }
  });

  it('has every defect told, in its own place, however many there are, and the published JSON Schema refuses it too', () => {
    const schema: unknown = JSON.parse(readFileSync(join(docs, 'catalog.schema.json'), 'utf8'));
    const published = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    for (const sound of [blockedCatalog(), readyCatalog()])
      expect(published.safeParse(sound).error).toBeUndefined();
    const defect = fc
      .constantFrom(
        ...members.flatMap(([, at, names, , refused]) =>
          names.flatMap((name) => [...refused, undefined].map((to) => ({ path: at + name, to }))),
        ),
      )
      .filter(({ path, to }) => to !== undefined || !/\/\d+$/.test(path));
    const ofEitherSource = fc
      .tuple(defect, fc.nat(1))
      .map(([{ path, to }, index]) => ({ path: path.replace(source, `source_assessments/${index}`), to }));
    const isInside = (one: { readonly path: string }, other: { readonly path: string }) =>
      `${one.path}/`.startsWith(`${other.path}/`);
    const apart = fc.uniqueArray(ofEitherSource, {
      minLength: 1,
      maxLength: 12,
      comparator: (one, other) => isInside(one, other) || isInside(other, one),
    });
    fc.assert(
      fc.property(apart, (defects) => {
        const record = defects.reduce(
          (catalog, { path, to }) => changed(catalog, path, to) as typeof catalog,
          blockedCatalog(),
        );
        expect(published.safeParse(record).success).toBe(false);
        const isHash = defects.some(({ path }) => path === 'catalog_revision_hash');
        expect(pointersOf(isHash ? record : withHash(record)).toSorted()).toEqual(
          defects.map(({ path }) => `/${path}`).toSorted(),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('is never answered with an exception, whatever JSON stands anywhere', () => {
    const names = fc.constantFrom(...Object.keys(blockedCatalog()));
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(names, fc.jsonValue()), (value, some) => {
        expect(checkCatalog(value).ok).toBe(false);
        expect(checkCatalog({ ...blockedCatalog(), ...some, release_state: value }).ok).toBe(false);
      }),
    );
  });

  it('keeps members that no table lists, where none closes the list [RC-025, RC-031, RC-040, RC-042]', () => {
    for (const open of ['', lifecycle, behavior, `${source}/`, `${standard}/`, `${results}/`])
      expect(after(`${open}more`, { any: ['thing'] })).toEqual([]);
    for (const closed of [manifest, binding, bindings, `${results}/expected_identity`])
      expect(after(`${closed}/more`, null)).toEqual([`/${closed}/more`]);
    expect(after(`${binding}/constructor`, 'x')).toEqual([`/${binding}/constructor`]);
    const blocked = '{"state":"blocked';
    const text = JSON.stringify(blockedCatalog()).replaceAll(blocked, `{"__proto__":{},${blocked.slice(1)}`);
    expect(pointersOf(withHash(JSON.parse(text) as ReturnType<typeof blockedCatalog>))).toEqual([
      `/${manifest}/__proto__`,
    ]);
  });

  it('names the owners results and analytics in this order, each at its place [RC-011]', () => {
    const owners = 'calibration_lifecycle_contract/empirical_revision_owners';
    expect(after(owners, ['analytics', 'results'])).toEqual([`/${owners}/0`, `/${owners}/1`]);
    expect(after(owners, ['results', 'Analytics'])).toEqual([`/${owners}/1`]);
  });

  it.each([
    ['blocked', 'create_http_status', 202, blockedCatalog()],
    ['blocked', 'operation_created', true, blockedCatalog()],
    ['ready', 'create_http_status', 503, readyCatalog()],
    ['ready', 'operation_created', false, readyCatalog()],
  ] as const)('that is %s has no %s %j [RC-002, RC-003]', (_state, name, wrong, catalog) => {
    const path = `release_behavior/${name}`;
    expect(pointersOf(withChange(catalog, path, wrong))).toEqual([`/${path}`]);
  });
});

describe('a ready catalog', () => {
  const owners = ['results', 'analytics'];
  const identityOf = (owner: string, name: string): string =>
    `${bindings}/${owner}/expected_identity/${name}`;
  /** Where the second source repeats a member of its own. */
  const repeatsOf = (name: string): readonly string[] => [
    ...(['tenant_id', 'calibration_target_id'].includes(name)
      ? []
      : [0, 1].map((index) => `/${manifest}/bindings/${index}/${name}`)),
    ...owners.map((owner) => `/${identityOf(owner, name)}`),
  ];
  const both: readonly (readonly [string, unknown])[] = [
    [`${source}/release_state`, 'blocked_missing_public_inventory_bindings'],
    [`${source}/source_key`, 'river-math-4.2026'],
    [`${manifest}/state`, 'blocked_missing_owner_approved_bindings'],
    [`${manifest}/authority`, null],
    [`${manifest}/authority_version`, null],
    [`${manifest}/expected_public_row_count`, 3],
    [`${manifest}/expected_public_row_count`, 1],
    [`${manifest}/expected_positive_content_cell_count`, 10],
    [`${manifest}/expected_positive_content_cell_count`, 8],
    [`${binding}/source_key`, 'another'],
    [`${binding}/content_test_spec_id`, 'another'],
    [`${binding}/content_version_id`, 'another'],
    [`${manifest}/authority`, ''],
    [`${manifest}/authority_version`, ''],
    [`${binding}/binding_authority`, 'another'],
    [`${binding}/binding_authority_version`, 'another'],
    ...owners.flatMap((owner) => identity.map((name) => [identityOf(owner, name), 'another'] as const)),
  ];

  it.each(both)('is whole: %s may not be %j, which it may be in a blocked one', (path, to) => {
    const repeats = path === `${source}/source_key` ? repeatsOf('source_key') : [];
    expect(pointersOf(withChange(readyCatalog(), path, to))).toEqual([`/${path}`, ...repeats]);
    expect(after(path, to)).toEqual([]);
  });

  it('binds a public row once, where a blocked one may still bind it twice', () => {
    const row = 'source_assessments/0/public_inventory_cell_binding_manifest/bindings/1/public_row_code';
    expect(pointersOf(withChange(readyCatalog(), row, 'RM4-1'))).toEqual([`/${row}`]);
    expect(after(row, 'RM4-1')).toEqual([]);
  });

  it.each(['tenant_id', 'content_test_spec_id', 'content_version_id'])(
    'says one %s of a source, its bindings and its calibration targets',
    (name) => {
      expect(pointersOf(withChange(readyCatalog(), `${source}/${name}`, 'another'))).toEqual(repeatsOf(name));
    },
  );

  it('is about one calibration target, as far as its form allows to tell', () => {
    const target = `${calibration}/calibration_target_id`;
    expect(pointersOf(withChange(readyCatalog(), target, 'another'))).toEqual(
      repeatsOf('calibration_target_id'),
    );
    expect(pointersOf(withChange(readyCatalog(), target, { id: 'another' }))).toEqual([]);
  });

  it('sums cells exactly', () => {
    const large = Number.MAX_SAFE_INTEGER;
    const catalog = [
      [`${binding}/source_cell_count`, large],
      [`${manifest}/bindings/1/source_cell_count`, 1],
      [`${manifest}/expected_positive_content_cell_count`, large],
    ].reduce((record, [path, to]) => withChange(record, path as string, to), readyCatalog());
    expect(pointersOf(catalog)).toEqual([`/${manifest}/expected_positive_content_cell_count`]);
  });
});

describe('checkCatalog', () => {
  const messages = (record: unknown): readonly string[] => {
    const checked = checkCatalog(record);
    return checked.ok ? [] : checked.error.map(({ pointer, message }) => `${pointer} ${message}`);
  };

  it('says what is wrong in words, and never with what stands there', () => {
    const broken = [
      ['schema_version', '\u001b[31mno'],
      [`${standard}/dok`, undefined],
      [`${calibration}/metric`, undefined],
      [`${manifest}/expected_public_row_count`, '\u001b[31mno'],
      [`${binding}/approved_at`, '\u001b[31mno'],
    ].reduce(
      (record, [path, to]) => changed(record, path as string, to) as Readonly<Record<string, unknown>>,
      blockedCatalog(),
    );
    expect(messages(broken)).toEqual([
      '/schema_version expected 6',
      `/${manifest}/expected_public_row_count expected number, received string`,
      `/${calibration}/metric is required`,
      `/${standard}/dok is required`,
      `/${binding}/approved_at must be an RFC 3339 date-time that exists`,
    ]);
    expect(messages(withChange(blockedCatalog(), 'release_behavior/operation_created', true))).toEqual([
      '/release_behavior/operation_created must be false while the catalog is blocked_pending_reviewer_credential_preflight',
    ]);
  });

  it('gives the record back as it came', () => {
    const record = { ...blockedCatalog(), more: 1 };
    const checked = checkCatalogForm(record);
    expect(checked.ok && checked.value).toBe(record);
  });

  it('is not drowned by a record that is made of defects', () => {
    const flood = changed(blockedCatalog(), `${manifest}/bindings`, Array(100_000).fill({}));
    const found = messages(flood);
    expect(found).toHaveLength(MAX_DEFECTS + 1);
    expect(found.at(-1)).toBe(' has more defects than these 1000');
    expect(found.slice(0, MAX_DEFECTS).every((line) => line.startsWith(`/${manifest}/bindings/`))).toBe(true);
    expect(
      pointersOf(withChange(blockedCatalog(), 'source_assessments', Array(100_000).fill(0))),
    ).toHaveLength(51);
  });
});
