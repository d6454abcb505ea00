import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { receiptBundle } from '#shared/contract/reports/receipt-bundle.ts';
import { projectFolder, useCommands } from '#test/support/commands.ts';
import { improveRun } from '#test/support/improvement-facts.ts';

const page = readFileSync(join(projectFolder, 'docs/receipts.md'), 'utf8');
const improved = improveRun();
const folder = mkdtempSync(join(tmpdir(), 'receipts-'));
mkdirSync(join(folder, 'evidence/more'), { recursive: true });
writeFileSync(join(folder, 'bundle.json'), improved.source.bytes);
writeFileSync(join(folder, 'run.json'), improved.run.bytes);
writeFileSync(join(folder, 'evidence/more/receipt.json'), improved.source.bytes);
for (const [ref, bytes] of improved.artifacts) writeFileSync(join(folder, 'evidence', ref), bytes);

const program = useCommands();
const run = (...argv: readonly string[]) => program('ops/receipts.ts', argv, folder);

describe('docs/receipts.md', () => {
  it('shows what the command prints', async () => {
    const [, line = '', output] = /```text\n\$ npm run receipts -- (.*)\n([\s\S]*?)```/.exec(page) ?? [];
    expect(await run(...line.split(' '))).toEqual({ code: 0, stdout: output, stderr: '' });
  });

  it('names every member of both bundles, and no other', () => {
    const tables = page.slice(page.indexOf('## Both bundles')).split('## ').slice(1);
    const named = tables.map((table) =>
      [...table.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []),
    );
    const [both = [], source = [], whole = []] = named;
    const members = Object.fromEntries(
      receiptBundle.options.map(({ shape }) => [shape.object.value, Object.keys(shape)]),
    );
    expect([...both, ...source].toSorted()).toEqual(members['source_receipt']?.toSorted());
    expect([...both, ...whole].toSorted()).toEqual(members['run_receipt']?.toSorted());
  });

  it('names every check', async () => {
    let text = '';
    for (const file of ['bundle.json', 'run.json'])
      text += (await run('verify', file, '--artifacts', 'evidence')).stdout;
    const lines = text.matchAll(/^(?:OK|-) {4,5} {1,3}(\w+(?: \w+)?) {2,}/gm);
    const checks = new Set([...lines].map(([, name = '']) => name));
    expect(checks.size).toBeGreaterThan(12);
    const table = page.slice(page.indexOf('## What is checked'), page.indexOf('## Both bundles'));
    const listed = [...table.matchAll(/^\| ([a-z, ]+?) +\|/gm)].flatMap(([, cell = '']) => cell.split(', '));
    expect(listed.toSorted()).toEqual([...checks].toSorted());
  });
});

describe('npm run receipts', () => {
  it('ends with 1 and a sentence for what does not hold, without a stack trace', async () => {
    rmSync(join(folder, 'evidence/crosswalk-state-math-5'));
    const missing = await run('verify', 'bundle.json', '--artifacts', 'evidence');
    writeFileSync(
      join(folder, 'evidence/crosswalk-state-math-5'),
      improved.artifacts.get('crosswalk-state-math-5') ?? '',
    );
    expect(missing).toMatchObject({
      code: 1,
      stderr: 'bundle.json is not valid: 1 of 13 checks failed (artifacts)\n',
    });
  });

  it('says that the folder of the artifacts cannot be read', async () => {
    expect(await run('verify', 'bundle.json', '--artifacts', 'absent')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'cannot read absent: no such file or directory\n',
    });
  });
});
