import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundle.ts';
import { withPureDeclarations } from './declarations.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'declarations-'));
});
afterAll(() => rm(root, { recursive: true }));

/** The text of a handler's bundle in a project of these files. */
async function bundled(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [file, source] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), source);
  }
  const built = await bundle(root, [{ operationId: 'probe', handler: 'functions/handler.ts' }], []);
  if (!built.ok) throw new Error(built.error.join('\n'));
  return Buffer.from(built.value[0]?.code ?? []).toString();
}

const rows = `
  const row = <Id extends string>(id: Id, of: object) => ({ id, ...of });
  const common = { kind: 'common-part' } as const;
  export const used = row('used-row', { ...common, at: new Map([['used-member', 1]]) });
  export const unused = row('unused-row', { of: row('unused-part', new Set(['unused-member'])) });`;

describe('a bundle', () => {
  it('holds the declarations that it names, by a namespace too, and none of the others', async () => {
    const text = await bundled({
      'shared/rows.ts': rows,
      'functions/handler.ts': `import * as rows from '../shared/rows.ts'; export const handler = () => rows.used;`,
    });
    for (const part of ['used-row', 'used-member', 'common-part']) expect(text).toContain(`"${part}"`);
    expect(text).not.toContain('unused');
  });

  it('does what a module does beside declaring constants', async () => {
    const text = await bundled({
      'shared/rows.ts': `${rows}\nexport let made = row('kept-for-its-call', {});\nrow('called', {});`,
      'functions/handler.ts': `import { used } from '../shared/rows.ts'; export const handler = () => used;`,
    });
    for (const part of ['kept-for-its-call', 'called']) expect(text).toContain(`"${part}"`);
  });
});

describe('withPureDeclarations', () => {
  it('moves no line, and leaves alone what a function declares', async () => {
    const source = `// a\nexport const a: number = f(\n  1,\n), b = [a] as const;\nfunction g() {\n  const c = f(2);\n}\nlet d = f(3);\n`;
    expect(await withPureDeclarations(source)).toBe(
      `// a\nexport const a: number = /* @__PURE__ */ (() => (f(\n  1,\n)))(), b = /* @__PURE__ */ (() => ([a] as const))();\nfunction g() {\n  const c = f(2);\n}\nlet d = f(3);\n`,
    );
  });
});
