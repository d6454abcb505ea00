import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Which rules of the specification no test cites.

  npm run rules                 every document
  npm run rules -- MA RP-1      only rules whose id begins so
  npm run rules -- --quiet      the counts alone

A test cites a rule by its id in the title: it("… [MA-123]", …). Rules marked (open), (client) and (release) are not counted.`;

interface Rule {
  readonly id: string;
  readonly section: string;
  readonly text: string;
}

/** The rules of docs/rules.tsv that a test of this project can guard. */
function readRules(root: string): Rule[] {
  return readFileSync(join(root, 'docs/rules.tsv'), 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .flatMap(([id, section, text]) =>
      id === undefined ||
      section === undefined ||
      text === undefined ||
      /^\((open|client|release)\)/.test(text)
        ? []
        : [{ id, section, text }],
    );
}

/** The rule ids that stand in a test file. */
function readCitations(root: string): Set<string> {
  const cited = new Set<string>();
  for (const folder of ['functions', 'shared', 'lib', 'local', 'tools', 'test', 'bench']) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.test.ts')) continue;
      for (const id of readFileSync(join(root, folder, file), 'utf8').match(/\b(?:RP|MA|RC)-\d{3}\b/g) ?? [])
        cited.add(id);
    }
  }
  return cited;
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quiet: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    console.log(HELP);
    return;
  }
  const root = join(import.meta.dirname, '..');
  const rules = readRules(root);
  const cited = readCitations(root);
  for (const prefix of positionals.length === 0 ? ['RP', 'MA', 'RC'] : positionals) {
    const wanted = rules.filter((rule) => rule.id.startsWith(prefix));
    if (wanted.length === 0) {
      console.error(`${prefix}: no rule of docs/rules.tsv begins so`);
      process.exitCode = 1;
      continue;
    }
    const missing = wanted.filter((rule) => !cited.has(rule.id));
    console.log(`${prefix}: ${wanted.length - missing.length} of ${wanted.length} rules are cited by a test`);
    if (values.quiet === true) continue;
    for (const rule of missing) console.log(`  ${rule.id}  [${rule.section}]  ${rule.text}`);
  }
}

try {
  main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
