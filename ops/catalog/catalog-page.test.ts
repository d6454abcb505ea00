import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { hashScope } from '#shared/catalog/hash.ts';
import { releaseCatalog } from '#shared/catalog/schema.ts';
import { projectFolder, useCommands } from '#test/support/commands.ts';

const page = readFileSync(join(projectFolder, 'docs/catalog.md'), 'utf8');
const program = useCommands();
const run = (...argv: readonly string[]) => program('ops/catalog.ts', argv);

describe('docs/catalog.md', () => {
  it('shows what the command prints', async () => {
    const [, line = '', output] = /```text\n\$ npm run catalog -- (.*)\n([\s\S]*?)```/.exec(page) ?? [];
    expect(await run(...line.split(' '))).toEqual({ code: 0, stdout: output, stderr: '' });
  });

  it('has the scope text of the hash', () => {
    expect(page).toContain(`\n${hashScope}\n`);
  });

  it('names every member', () => {
    const tables = page.slice(page.indexOf('## Members'));
    const named = new Set([...tables.matchAll(/`"?(\w+)"?`/g)].map(([, name]) => name));
    expect(membersOf(releaseCatalog).filter((name) => !named.has(name))).toEqual([]);
  });
});

/** The names of all members of a schema, at every depth. */
function membersOf(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, member]) => [
      name,
      ...membersOf(member),
    ]);
  }
  return schema instanceof z.ZodArray ? membersOf(schema.element as z.ZodType) : [];
}

describe('npm run catalog', () => {
  it('ends with 1 and pointers for an invalid record, without a stack trace', async () => {
    expect(await run('check', 'package.json')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^package\.json is not a valid release catalog: 7 defects\n {2}\/schema_version: is required\n/,
      ) as string,
    });
  });

  it('reads no more than it takes of a file without an end', async () => {
    expect(await run('check', '/dev/zero')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is larger than 16 MiB') as string,
    });
  });
});
