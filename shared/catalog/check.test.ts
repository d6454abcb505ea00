import { describe, expect, it } from 'vitest';
import { changed } from '#test/support/changed.ts';
import { blockedCatalog, pointersOf, readyCatalog, withChange, withHash } from '#test/support/catalog.ts';
import { checkCatalog, checkCatalogForm, MAX_DEFECTS } from './check.ts';
import type { ReleaseCatalog } from './schema.ts';

const source = 'source_assessments/1';
const standard = `${source}/tested_standard_inventory/0`;
const manifest = `${source}/public_inventory_cell_binding_manifest`;
const binding = `${manifest}/bindings/0`;
const calibration = `${source}/calibration`;
const results = `${calibration}/empirical_revision_bindings/results`;

/** Where a blocked catalog is refused after one change, and where a catalog's own hash was brought up to date. */
const after = (path: string, to: unknown): readonly string[] =>
  pointersOf(withChange(blockedCatalog(), path, to));
const taken = (path: string, values: readonly unknown[]): void => {
  for (const value of values) expect(after(path, value), JSON.stringify(value)).toEqual([]);
};
const refused = (path: string, values: readonly unknown[]): void => {
  for (const value of values) expect(after(path, value), JSON.stringify(value)).toEqual([`/${path}`]);
};
/** Each member of an object is required; `anyValue` ones take whatever JSON there is. */
const required = (path: string, names: readonly string[]): void => {
  for (const name of names) expect(after(`${path}${name}`, undefined)).toEqual([`/${path}${name}`]);
};
const anything = [null, false, 0, '', [], {}, { deep: [1] }];

describe('a release catalog', () => {
  it('is one record with sources, inventory, bindings and calibration targets, blocked or ready [RC-001]', () => {
    expect(pointersOf(blockedCatalog())).toEqual([]);
    expect(pointersOf(readyCatalog())).toEqual([]);
    required('', ['schema_version', 'release_state', 'catalog_revision_hash', 'catalog_revision_hash_scope']);
    required('', ['calibration_lifecycle_contract', 'source_assessments', 'release_behavior']);
    required(`${source}/`, [
      'tested_standard_inventory',
      'public_inventory_cell_binding_manifest',
      'calibration',
    ]);
    required(`${manifest}/`, ['bindings']);
    required(`${calibration}/`, ['empirical_revision_bindings']);
  });

  it.each([undefined, null, 7, 'x', true, [], [[]]])('is an object, which %j is not', (value) => {
    expect(pointersOf(value)).toEqual(['']);
  });

  it('has the schema version 6, the integer [RC-005]', () => {
    taken('schema_version', [6, 6.0]);
    refused('schema_version', [5, 7, '6', 6.5, null, [6]]);
  });

  it('is blocked or ready [RC-006]', () => {
    for (const state of ['blocked', 'READY', 'blocked_missing_public_inventory_bindings', '', null, true]) {
      expect(after('release_state', state)).toEqual(['/release_state']);
    }
  });

  it('has a hash of 64 lower-case hexadecimal characters [RC-007]', () => {
    const hash = blockedCatalog()['catalog_revision_hash'] as string;
    refused('catalog_revision_hash', [
      hash.toUpperCase(),
      hash.slice(1),
      `${hash}0`,
      `${hash}\n`,
      `${hash.slice(1)}g`,
      '',
      null,
      7,
    ]);
  });

  it('says what its hash covers [RC-008]', () => {
    refused('catalog_revision_hash_scope', ['', null, 7, ['x']]);
    taken('catalog_revision_hash_scope', ['x', 'all of it']);
  });

  it('keeps members that no table lists, where none closes the list', () => {
    for (const open of [
      '',
      'calibration_lifecycle_contract/',
      'release_behavior/',
      `${source}/`,
      `${standard}/`,
      `${calibration}/`,
      `${results}/`,
    ]) {
      expect(after(`${open}more`, { any: ['thing'] })).toEqual([]);
    }
  });
});

describe('the calibration lifecycle contract', () => {
  const at = 'calibration_lifecycle_contract';

  it('has five members, four of which may hold anything [RC-010]', () => {
    const untyped = ['identity_fields', 'initial_creation_evidence', 'cardinality', 'promotion_rule'];
    required(`${at}/`, [...untyped, 'empirical_revision_owners']);
    for (const name of untyped) taken(`${at}/${name}`, anything);
    refused(at, [null, [], 'x']);
  });

  it('names the owners results and analytics, both, in this order, nobody else [RC-011]', () => {
    refused(`${at}/empirical_revision_owners`, [
      ['results'],
      [],
      ['results', 'analytics', 'content'],
      'results,analytics',
      { 0: 'results', 1: 'analytics' },
    ]);
    const owners = `/${at}/empirical_revision_owners`;
    expect(after(owners.slice(1), ['analytics', 'results'])).toEqual([`${owners}/0`, `${owners}/1`]);
    expect(after(owners.slice(1), ['results', 'Analytics'])).toEqual([`${owners}/1`]);
  });
});

describe('the sources', () => {
  const numbered = (count: number): readonly unknown[] =>
    Array.from({ length: count }, () => (blockedCatalog()['source_assessments'] as unknown[])[1]);

  it('are 2 to 50 [RC-013]', () => {
    taken('source_assessments', [numbered(2), numbered(50)]);
    refused('source_assessments', [numbered(1), numbered(51), [], {}, null]);
  });

  it('say whose they are in strings, and have a manifest and a calibration [RC-019]', () => {
    const names = ['tenant_id', 'source_key', 'content_test_spec_id', 'content_version_id'];
    required(`${source}/`, [...names, 'public_inventory_cell_binding_manifest', 'calibration']);
    for (const name of names) refused(`${source}/${name}`, [null, 7, ['x']]);
    refused(source, [null, 'x', []]);
    refused(manifest, [null, 'x', []]);
    refused(calibration, [null, 'x', []]);
  });

  it('are blocked or ready [RC-020]', () => {
    required(`${source}/`, ['release_state']);
    taken(`${source}/release_state`, ['ready', 'blocked_missing_public_inventory_bindings']);
    refused(`${source}/release_state`, ['blocked', 'blocked_missing_owner_approved_bindings', null]);
  });

  it('test at least one standard [RC-021]', () => {
    refused(`${source}/tested_standard_inventory`, [[], {}, null, 'x']);
  });
});

describe('a tested standard', () => {
  it('has four texts that say something [RC-023]', () => {
    const names = ['source_standard_code', 'label', 'evidence_locator', 'runtime_mapping_disposition'];
    required(`${standard}/`, names);
    for (const name of names) refused(`${standard}/${name}`, ['', null, 7]);
    refused(standard, [null, 'x', []]);
  });

  it('has a depth of knowledge from 1 to 4, or says that none is stated [RC-024]', () => {
    required(`${standard}/`, ['dok']);
    taken(`${standard}/dok`, [1, 2, 3, 4, 'unstated']);
    refused(`${standard}/dok`, [null, 0, 5, 1.5, '2', '5', 'Unstated', '', true]);
  });
});

describe('a binding manifest', () => {
  it('has no other members [RC-025]', () => {
    refused(`${manifest}/more`, [null, 1]);
    const text = JSON.stringify(blockedCatalog()).replaceAll(
      '{"state":"blocked',
      '{"__proto__":{},"state":"blocked',
    );
    expect(pointersOf(withHash(JSON.parse(text) as ReturnType<typeof blockedCatalog>))).toEqual([
      `/${manifest}/__proto__`,
    ]);
  });

  it('is blocked or ready [RC-026]', () => {
    required(`${manifest}/`, ['state']);
    taken(`${manifest}/state`, ['ready', 'blocked_missing_owner_approved_bindings']);
    refused(`${manifest}/state`, ['blocked', 'blocked_missing_public_inventory_bindings', null]);
  });

  it('has an authority and its version, or null for either [RC-027]', () => {
    for (const name of ['authority', 'authority_version']) {
      required(`${manifest}/`, [name]);
      taken(`${manifest}/${name}`, [null, '', 'office']);
      refused(`${manifest}/${name}`, [7, false, []]);
    }
  });

  it('expects at least one row and one cell [RC-028]', () => {
    for (const name of ['expected_public_row_count', 'expected_positive_content_cell_count']) {
      required(`${manifest}/`, [name]);
      taken(`${manifest}/${name}`, [1, 2.0, 9007199254740991]);
      refused(`${manifest}/${name}`, [0, -1, 1.5, '1', null, 9007199254740992]);
    }
  });

  it('has a list of bindings, which may be empty or long [RC-029]', () => {
    const { source_assessments: sources } = blockedCatalog() as unknown as ReleaseCatalog;
    const [one] = sources[1]!.public_inventory_cell_binding_manifest.bindings;
    taken(`${manifest}/bindings`, [[], Array(500).fill(one)]);
    refused(`${manifest}/bindings`, [null, {}, 'x']);
    refused(`${manifest}/bindings/1`, [null, 7, []]);
  });
});

describe('a binding of a public row', () => {
  const texts = [
    'source_key',
    'public_row_code',
    'content_test_spec_id',
    'content_version_id',
    'source_case_guid',
    'binding_authority',
    'binding_authority_version',
    'approved_by',
    'evidence_ref',
  ];

  it('has twelve members, all required, and no other [RC-031]', () => {
    required(`${binding}/`, [...texts, 'source_dok', 'source_cell_count', 'approved_at']);
    refused(`${binding}/more`, [null, 'x']);
    refused(`${binding}/constructor`, ['x']);
  });

  it('has texts that say something [RC-032]', () => {
    for (const name of texts) refused(`${binding}/${name}`, ['', null, 7]);
  });

  it('has a depth of knowledge from 1 to 4, always stated [RC-033]', () => {
    taken(`${binding}/source_dok`, [1, 2, 3, 4]);
    refused(`${binding}/source_dok`, ['unstated', 0, 5, 2.5, '2', null]);
  });

  it('counts at least one cell [RC-034]', () => {
    taken(`${binding}/source_cell_count`, [1, 7.0]);
    refused(`${binding}/source_cell_count`, [0, -3, 0.5, '1', null]);
  });

  it('was approved at a date-time [RC-035]', () => {
    taken(`${binding}/approved_at`, ['2026-04-17T09:30:00Z', '2026-04-17T09:30:00.5+05:30']);
    refused(`${binding}/approved_at`, [
      '2026-04-17',
      '2026-02-30T09:30:00Z',
      '2026-04-17T09:30:00',
      '',
      null,
      1776418200,
    ]);
  });
});

describe('a calibration', () => {
  it('has a target, two policies and an approval in whatever form [RC-037]', () => {
    const untyped = ['calibration_target_id', 'calibration_policy_version', 'scoring_policy_ref', 'approval'];
    required(`${calibration}/`, untyped);
    for (const name of untyped) taken(`${calibration}/${name}`, anything);
  });

  it('has one metric, one target value and one relation [RC-039]', () => {
    required(`${calibration}/`, ['metric', 'target_value', 'relation']);
    refused(`${calibration}/metric`, ['raw_score_percent', '', null]);
    refused(`${calibration}/target_value`, [99, 101, '100', null]);
    refused(`${calibration}/relation`, ['mastery_implies', '', null]);
    taken(`${calibration}/target_value`, [100.0]);
  });

  it('is bound to results and analytics, both and nobody else [RC-040]', () => {
    required(`${calibration}/empirical_revision_bindings/`, ['results', 'analytics']);
    refused(`${calibration}/empirical_revision_bindings/content`, [{}]);
    for (const owner of ['results', 'analytics']) {
      refused(`${calibration}/empirical_revision_bindings/${owner}`, [null, 'x', []]);
    }
    refused(`${calibration}/empirical_revision_bindings`, [null, []]);
  });

  it('has for each owner a reference and a receipt, or null for either [RC-041]', () => {
    for (const name of ['native_reference_id', 'receipt_ref']) {
      required(`${results}/`, [name]);
      taken(`${results}/${name}`, [null, '', 'ref-1']);
      refused(`${results}/${name}`, [7, false, {}]);
    }
  });

  it('expects an identity of five texts and no more [RC-042]', () => {
    const names = [
      'tenant_id',
      'source_key',
      'content_test_spec_id',
      'content_version_id',
      'calibration_target_id',
    ];
    required(`${results}/expected_identity/`, names);
    for (const name of names) refused(`${results}/expected_identity/${name}`, ['', null, 7]);
    refused(`${results}/expected_identity/more`, ['x']);
    required(`${results}/`, ['expected_identity']);
    refused(`${results}/expected_identity`, [null, 'x', []]);
  });

  it('says for each owner a route, a credential slot and a state in whatever form [RC-043]', () => {
    const untyped = ['dereference_route', 'credential_slot', 'state'];
    required(`${results}/`, untyped);
    for (const name of untyped) taken(`${results}/${name}`, anything);
  });
});

describe('the release behaviour', () => {
  it('has six members, four of which may hold anything [RC-014]', () => {
    const untyped = ['quickstart_state', 'ready_gate', 'failure_atomicity', 'empirical_revision_trigger'];
    required('release_behavior/', [...untyped, 'create_http_status', 'operation_created']);
    for (const name of untyped) taken(`release_behavior/${name}`, anything);
    refused('release_behavior', [null, [], 'x']);
  });

  it('answers 202 or 503, and says whether an operation is created [RC-015]', () => {
    taken('release_behavior/create_http_status', [503]);
    refused('release_behavior/create_http_status', [200, 404, '503', null, 503.5]);
    refused('release_behavior/operation_created', ['false', 0, null]);
  });

  it('is 503 without an operation while the catalog is blocked, and nothing else [RC-002]', () => {
    refused('release_behavior/create_http_status', [202]);
    refused('release_behavior/operation_created', [true]);
  });

  it('is 202 with an operation when the catalog is ready, and nothing else [RC-003]', () => {
    for (const [name, wrong] of [
      ['create_http_status', 503],
      ['operation_created', false],
    ] as const) {
      const path = `release_behavior/${name}`;
      expect(pointersOf(withChange(readyCatalog(), path, wrong))).toEqual([`/${path}`]);
    }
  });
});

describe('a ready catalog', () => {
  const owners = ['results', 'analytics'];
  const identityNames = [
    'tenant_id',
    'source_key',
    'content_test_spec_id',
    'content_version_id',
    'calibration_target_id',
  ];
  const identityOf = (owner: string, name: string): string =>
    `${calibration}/empirical_revision_bindings/${owner}/expected_identity/${name}`;
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
    ...owners.flatMap((owner) => identityNames.map((name) => [identityOf(owner, name), 'another'] as const)),
  ];

  it.each(both)('is whole: %s may not be %j', (path, to) => {
    const found = pointersOf(withChange(readyCatalog(), path, to));
    expect(found).toContain(`/${path}`);
    expect(found).toEqual([`/${path}`, ...(path === `${source}/source_key` ? repeatsOf('source_key') : [])]);
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

  it.each(both)('is asked more than a blocked one, for which %s may be %j', (path, to) => {
    expect(after(path, to)).toEqual([]);
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

  it('is not counted where a count or a cell has no form', () => {
    expect(pointersOf(withChange(readyCatalog(), `${binding}/source_cell_count`, 0))).toEqual([
      `/${binding}/source_cell_count`,
    ]);
    expect(pointersOf(withChange(readyCatalog(), `${manifest}/bindings`, null))).toEqual([
      `/${manifest}/bindings`,
    ]);
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
      ['release_behavior/operation_created', true],
    ].reduce(
      (record, [path, to]) => changed(record, path as string, to) as Readonly<Record<string, unknown>>,
      blockedCatalog(),
    );
    expect(messages(withHash(broken))).toEqual([
      '/schema_version expected 6',
      `/${manifest}/expected_public_row_count expected number, received string`,
      `/${calibration}/metric is required`,
      `/${standard}/dok is required`,
      `/${binding}/approved_at must be an RFC 3339 date-time that exists`,
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
