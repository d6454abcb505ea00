import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readClassCohort,
  readEquivalence,
  readSchoolGradeCohort,
  reportsRoutes,
} from '#shared/contract/reports/routes.ts';
import { offlineRelease, parseGates } from '#shared/release/read-release.ts';
import { generatedFiles, openApiFiles, refreshFiles, staleFiles } from './files.ts';

const folder = resolve(import.meta.dirname, '../../docs');

describe('generatedFiles', () => {
  it('are what docs holds: run npm run docs after a change of a registry', async () => {
    expect(await staleFiles(folder, generatedFiles(folder))).toEqual([]);
  });

  it('are the same at every run', () => {
    expect(generatedFiles(folder)).toEqual(generatedFiles(folder));
  });
});

describe('openApiFiles', () => {
  const pathsOf = (gates: string): readonly string[] => {
    const open = parseGates(gates);
    if (!open.ok) throw new Error(open.error);
    const document = openApiFiles(offlineRelease(open.value)).get('reports.json') ?? '';
    return Object.keys((JSON.parse(document) as { readonly paths: object }).paths);
  };

  it('have the open routes only [RP-016]', () => {
    expect(pathsOf('')).toEqual([]);
    expect(pathsOf('A')).toEqual([]);
    expect(pathsOf('A,D')).toEqual(
      [readClassCohort, readSchoolGradeCohort, readEquivalence].map(({ path }) => path),
    );
    expect(pathsOf('A,B,C,D,F')).toEqual(reportsRoutes.map(({ path }) => path));
  });
});

describe('refreshFiles', () => {
  let docs: string;
  const files = new Map([
    ['openapi/a.json', '{}\n'],
    ['b.json', '[]\n'],
  ]);

  beforeEach(async () => {
    docs = await mkdtemp(join(tmpdir(), 'docs-'));
  });
  afterEach(() => rm(docs, { recursive: true }));

  it('writes what is missing or changed, removes what nothing makes any more, and then finds nothing to do', async () => {
    await mkdir(join(docs, 'openapi'));
    await writeFile(join(docs, 'openapi/a.json'), 'old');
    await writeFile(join(docs, 'openapi/gone.json'), '{}');
    await writeFile(join(docs, 'hand-written.md'), 'text');
    const stale = [
      { path: 'openapi/a.json', kind: 'changed' },
      { path: 'b.json', kind: 'missing' },
      { path: 'openapi/gone.json', kind: 'orphan' },
    ];
    expect(await staleFiles(docs, files)).toEqual(stale);
    expect(await refreshFiles(docs, files)).toEqual(stale);
    expect(await staleFiles(docs, files)).toEqual([]);
    expect(await readFile(join(docs, 'b.json'), 'utf8')).toBe('[]\n');
    expect(await readFile(join(docs, 'hand-written.md'), 'utf8')).toBe('text');
  });
});
