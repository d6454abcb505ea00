import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arguedMutants, flat } from './argued.ts';
import { modulesUnder, mutatedModules } from './modules.ts';
import { drawn } from './mutants.ts';

const root = join(import.meta.dirname, '../..');

describe('the modules of npm run mutation', () => {
  const testFiles = globSync('{client,functions,local,ops,psychometrics,shared,test,tools}/**/*.test.ts', {
    cwd: root,
  });

  it.each(mutatedModules)('$name has sources, and tests at every stage', ({ sources, tests }) => {
    for (const source of sources) expect(globSync(source, { cwd: root }), source).toHaveLength(1);
    // As vitest takes a filter: a part of the path.
    for (const part of tests.flat())
      expect(
        testFiles.filter((file) => file.includes(part)),
        part,
      ).not.toHaveLength(0);
  });

  it('are proved by their unit tests alone under --proof unit: of every one the first tests, which need no whole function', () => {
    const modules = modulesUnder('unit');
    expect(modules.map(({ name }) => name)).toEqual(mutatedModules.map(({ name }) => name));
    for (const [at, { name, proof, tests }] of modules.entries()) {
      expect({ proof, tests }, name).toEqual({ proof: 'unit', tests: [mutatedModules[at]!.tests[0]] });
      for (const part of tests.flat())
        for (const file of testFiles.filter((path) => path.includes(part)))
          expect(file, name).not.toMatch(/^test\/contract\/|\.(contract|slow)\.test\.ts$/);
    }
    expect(modulesUnder('all')).toEqual(mutatedModules);
  });
});

it('argued survivors are changes of code that is there, and of a module', () => {
  const listed = Object.entries(arguedMutants).flatMap(([file, some]) =>
    some.map((one) => ({ file, ...one })),
  );
  for (const { file, line = '', changes, reason } of listed) {
    const code = readFileSync(join(root, file), 'utf8');
    expect(code, file).toContain(line);
    for (const [original, ...replacements] of changes) {
      expect(flat(code), file).toContain(original);
      expect(replacements, original).not.toContain(original);
    }
    expect(reason, file).not.toBe('');
    expect(
      mutatedModules.some(({ sources }) => sources.some((source) => file.startsWith(source))),
      file,
    ).toBe(true);
  }
});

describe('drawn', () => {
  const mutants = fc
    .uniqueArray(fc.string(), { maxLength: 20 })
    .map((all) => all.map((identity) => ({ identity })));

  it('draws the same mutants in the same order, whatever else there is', () => {
    fc.assert(
      fc.property(mutants, mutants, fc.nat(), (kept, others, seed) => {
        const names = new Set(kept.map(({ identity }) => identity));
        const among = drawn(
          [...others.filter(({ identity }) => !names.has(identity)), ...kept.toReversed()],
          seed,
        );
        expect(among.filter(({ identity }) => names.has(identity))).toEqual(drawn(kept, seed));
      }),
    );
  });
});
