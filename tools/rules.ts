import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { examples, exits, program, run, UsageError } from './terminal/command.ts';

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

/** The rule ids in a test file. */
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

/** The lines about the rules whose id has this prefix. */
function reportOn(
  prefix: string,
  rules: readonly Rule[],
  cited: ReadonlySet<string>,
  quiet: boolean,
): Result<readonly string[], string> {
  const wanted = rules.filter((rule) => rule.id.startsWith(prefix));
  if (wanted.length === 0) return err(`${prefix}: no rule of docs/rules.tsv starts with this prefix`);
  const missing = wanted.filter((rule) => !cited.has(rule.id));
  return ok([
    `${prefix}: ${wanted.length - missing.length} of ${wanted.length} rules are cited in a test file`,
    ...(quiet ? [] : missing.map(({ id, section, text }) => `  ${id}  [${section}]  ${text}`)),
  ]);
}

const command = program(
  'npm run rules --',
  'Lists the rules of the specification that no test cites: all rules, or those whose id starts with PREFIX.\nA test cites a rule by its id, usually in the title: it("… [MA-123]", …). Rules marked (open), (client) and (release) are not counted.',
)
  .argument('[PREFIX...]')
  .option('--quiet', 'print only the counts')
  .addHelpText('after', examples('npm run rules -- MA RP-1', 'npm run rules -- --quiet'));

command.action(
  exits((prefixes, { quiet = false }) => {
    const root = join(import.meta.dirname, '..');
    const rules = readRules(root);
    const cited = readCitations(root);
    const unknown: string[] = [];
    for (const prefix of prefixes.length === 0 ? ['RP', 'MA', 'RC'] : prefixes) {
      const report = reportOn(prefix, rules, cited, quiet);
      if (report.ok) console.log(report.value.join('\n'));
      else unknown.push(report.error);
    }
    return unknown.length === 0 ? ok(undefined) : err(new UsageError(unknown.join('\n')));
  }),
);

await run(command);
