import { describe, expect, it } from 'vitest';
import { plain } from '#tools/terminal/paint.ts';
import { blockedCatalog, readyCatalog, withChange } from '#test/support/catalog.ts';
import { runCatalog, type CatalogAction } from './run.ts';

/** What a command prints and how it ends, over a file with this in it. */
async function run(action: CatalogAction, content: unknown, path = 'catalog.json') {
  const lines: string[] = [];
  const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  const runtime = {
    readFile: () => Promise.resolve(bytes),
    print: (line: string) => {
      lines.push(line);
    },
    paint: plain,
  };
  const result = await runCatalog(runtime, action, path);
  return { lines, error: result.ok ? undefined : result.error };
}

const hash = blockedCatalog()['catalog_revision_hash'] as string;
const unhashed = { ...blockedCatalog(), catalog_revision_hash: 'to be computed' };
const otherScope = { ...blockedCatalog(), catalog_revision_hash_scope: 'the sources' };
/** A blocked catalog with this text where it is shown. */
const keyedBy = (text: string) =>
  ['source_assessments/0/source_key', 'release_behavior/ready_gate'].reduce(
    (catalog, path) => withChange(catalog, path, text),
    blockedCatalog(),
  );
const notVerified =
  'hash not verified: catalog_revision_hash_scope describes another hash than this command computes';

it('catalog check says that a catalog is sound, its state, and whether its hash could be verified', async () => {
  for (const [catalog, state, hashed] of [
    [readyCatalog(), 'ready', 'hash verified'],
    [otherScope, 'blocked_pending_reviewer_credential_preflight', notVerified],
  ] as const)
    expect(await run('check', catalog)).toEqual({
      lines: [`catalog.json is a valid release catalog: ${state}, 2 sources`, hashed],
      error: undefined,
    });
});

describe('catalog hash', () => {
  it('prints the hash alone on the last line, whatever the record states now', async () => {
    expect(await run('hash', blockedCatalog())).toEqual({ lines: ['hash verified', hash], error: undefined });
    expect(await run('hash', unhashed)).toEqual({
      lines: ['catalog.json does not contain this hash yet', hash],
      error: undefined,
    });
    const without = withChange(blockedCatalog(), 'catalog_revision_hash', undefined);
    expect((await run('hash', without)).lines.at(-1)).toBe(hash);
  });

  it('does not judge a hash of another scope', async () => {
    const { lines, error } = await run('hash', otherScope);
    expect({ first: lines[0], error }).toEqual({ first: notVerified, error: undefined });
    expect(lines.at(-1)).toMatch(/^[0-9a-f]{64}$/);
    expect(lines.at(-1)).not.toBe(hash);
  });

  it('gives no hash to a record with other defects', async () => {
    expect(await run('hash', { ...unhashed, schema_version: 7 })).toEqual({
      lines: [],
      error: 'catalog.json is not a valid release catalog: one defect\n  /schema_version: expected 6',
    });
  });
});

describe('catalog explain', () => {
  it('finds nothing that blocks a ready catalog', async () => {
    expect(await run('explain', readyCatalog())).toEqual({
      lines: [
        'Release catalog, schema version 6: ready',
        'Quickstart creation returns 202 and creates an operation.',
        expect.stringMatching(/^Ready gate: a reviewer signs in/),
        '',
        'Source                Rows    Cells   What still blocks ready',
        'river-math-4.2026     2 of 2  7 of 7  nothing',
        'river-reading-4.2026  2 of 2  9 of 9  nothing',
        '',
        'No source blocks ready.',
      ],
      error: undefined,
    });
  });

  it('explains a ready catalog whose parts are not, and fails', async () => {
    const path = 'source_assessments/1/public_inventory_cell_binding_manifest/authority';
    const { lines, error } = await run('explain', withChange(readyCatalog(), path, null));
    expect(lines).toContain('1 of 2 sources block ready.');
    expect(error).toBe(
      `catalog.json is not a valid release catalog: one defect\n  /${path}: is null: nobody has approved the bindings, and the catalog is ready`,
    );
  });

  it('says when the hash is not verified, and shows a few blockers of many', async () => {
    const bindings = 'source_assessments/1/public_inventory_cell_binding_manifest/bindings';
    const sources = blockedCatalog()['source_assessments'] as {
      public_inventory_cell_binding_manifest: { bindings: object[] };
    }[];
    const foreign = { ...sources[0]!.public_inventory_cell_binding_manifest.bindings[0] };
    const { lines } = await run('explain', withChange(otherScope, bindings, Array(7).fill(foreign)));
    expect(lines).toContain(
      'Hash not verified: catalog_revision_hash_scope describes another hash than this command computes.',
    );
    // Two states, an authority, two counts, three members of each binding, and the row of all but the first.
    expect(lines.filter((line) => line.includes('and 20 more'))).toHaveLength(1);
  });

  it('does not explain what has no form', async () => {
    expect(await run('explain', { ...blockedCatalog(), release_state: 'soon' })).toMatchObject({
      lines: [],
      error: expect.stringContaining('/release_state: ') as string,
    });
  });
});

describe('catalog', () => {
  const hostile = '\u001b]0;title\u0007\u001b[2J\u202e\r\n\u009b31m';

  it('never passes on what would steer a terminal', async () => {
    const steered = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
    const manifest = 'source_assessments/0/public_inventory_cell_binding_manifest';
    const record = [
      [`${manifest}/${hostile}`, 1],
      ['source_assessments/0/source_key', hostile],
      ['release_behavior/ready_gate', { [hostile]: hostile }],
      ['release_state', hostile],
    ].reduce((catalog, [path, to]) => withChange(catalog, path as string, to), blockedCatalog());
    const outputs = [
      await run('check', record, hostile),
      await run('hash', record),
      await run('explain', record),
      await run('explain', keyedBy(hostile)),
      await run('check', `{"${'x'.repeat(10)}\u001b`),
    ];
    for (const { lines, error = '' } of outputs) {
      expect([...lines, ...error.split('\n')].filter((line) => steered.test(line))).toEqual([]);
    }
    expect(outputs[0]?.error).toContain('release_state');
    expect(outputs[3]?.lines.join()).toContain('Ready gate: \u{fffd}');
  });

  it('cuts names that somebody made long on purpose', async () => {
    const long = 'x'.repeat(100_000);
    const closed = withChange(
      blockedCatalog(),
      `source_assessments/0/public_inventory_cell_binding_manifest/${long}`,
      1,
    );
    expect((await run('check', closed)).error?.length).toBeLessThan(500);
    expect((await run('explain', keyedBy(long))).lines.join('').length).toBeLessThan(2500);
  });
});
