import { join } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { scaffoldExposure } from './scaffolds/exposure.ts';
import { scaffoldFilter } from './scaffolds/filter.ts';
import { holeLines, openHoles } from './scaffolds/holes.ts';
import { scaffoldLogCode } from './scaffolds/log-code.ts';
import * as names from './scaffolds/names.ts';
import { scaffoldOperation } from './scaffolds/operation.ts';
import { Plan } from './scaffolds/plan.ts';
import { scaffoldProblem } from './scaffolds/problem.ts';
import { scaffoldRoute } from './scaffolds/route.ts';
import { scaffoldSetting } from './scaffolds/setting.ts';
import { examples, exits, integer, list, parsed, program, run } from './terminal/command.ts';

const root = join(import.meta.dirname, '..');

/** Makes a scaffold and prints what it wrote, the holes in it and the checks to run. */
function make(
  fill: (plan: Plan) => string | undefined,
  tests: readonly string[],
  further: readonly string[] = [],
): Result<undefined, string> {
  const plan = new Plan(root);
  const refusal = fill(plan);
  if (refusal !== undefined) plan.fail(refusal);
  const written = plan.write();
  if (!written.ok) return err(`nothing was written:\n${written.error}`);
  const { files, holes } = written.value;
  console.log(['written:', ...files.map((file) => `  ${file}`)].join('\n'));
  if (holes.length > 0)
    console.log(['\nto fill in, a line and what belongs there:', ...holeLines(holes)].join('\n'));
  const checks = [
    'npm run docs',
    'npm run check:types',
    `npm run test:unit -- ${tests.join(' ')}`,
    ...further,
  ];
  console.log(['\nthen:', ...checks.map((check) => `  ${check}`)].join('\n'));
  return ok(undefined);
}

const service = ['mastery', 'reports'] as const;
const named = (what: string): [string, string] => ['<NAME>', what];

const command = program(
  'npm run new --',
  'Writes every place of a new part of the project, with holes where a person decides: FILL_IN says what belongs there and does not compile. Refuses names that exist; writes everything or nothing. docs/change.md says what to decide.',
).addHelpText(
  'after',
  examples(
    'npm run new -- route readRuntimeVersions --service mastery --method GET --path /v1/runtime-versions --owned none',
    'npm run new -- filter administrationId --route listCandidateReports --applied-by owner',
    'npm run new -- holes',
  ),
);

command
  .command('route')
  .description('a route: row, schemas, texts, handler, operation, tests, proof subject')
  .argument(...named('the operation id, a verb and a noun'), parsed(names.operationName))
  .addOption(new Option('--service <NAME>', 'its service').choices(service).makeOptionMandatory())
  .addOption(new Option('--method <METHOD>').choices(['GET', 'POST'] as const).makeOptionMandatory())
  .requiredOption('--path <PATH>', 'below the service’s base URL, with {parameters}', parsed(names.routePath))
  .requiredOption(
    '--owned <NAMES>',
    'the parameters and body members that name something of a tenant; or none',
    list,
  )
  .option('--body', 'a POST with a body', false)
  .option(
    '--dependencies <FUNCTION>',
    'what makes the dependencies, as in recordDependencies; default: it has none',
    parsed(names.camelName),
  )
  .action(
    exits((operation, { owned, dependencies, ...options }) =>
      make(
        (plan) =>
          scaffoldRoute(plan, {
            operation,
            dependencies,
            owned: owned.filter((name) => name !== 'none'),
            ...options,
          }),
        [
          `functions/${options.service}/endpoints/${names.kebab(operation)}`,
          'shared/contract',
          'shared/openapi',
        ],
        ['npx vitest run --project contract test/lemmas/worlds.contract.test.ts'],
      ),
    ),
  );
command
  .command('filter')
  .description('a query filter of a list: entry in the row, text, and the owner’s part')
  .argument(...named('the query parameter'), parsed(names.camelName))
  .requiredOption('--route <OPERATION>', 'the operation id of the list', parsed(names.operationName))
  .addOption(
    new Option('--applied-by <WHO>', 'who selects the rows')
      .choices(['owner', 'service'] as const)
      .makeOptionMandatory(),
  )
  .option('--fact <NAME>', 'the fact of a row that decides; default: the name', parsed(names.camelName))
  .action(
    exits((name, { fact = name, ...options }) =>
      make(
        (plan) => scaffoldFilter(plan, { name, fact, ...options }),
        ['shared/contract', 'shared/openapi'],
        ['npx vitest run --project contract test/contract/lists.test.ts'],
      ),
    ),
  );
command
  .command('problem')
  .description('a problem: its row, its line in the test’s table, its key in the rows of routes')
  .argument('<CODE>', 'in kebab case', parsed(names.form(/^[a-z]+(?:-[a-z]+)*$/, 'kebab case')))
  .addOption(new Option('--service <NAME>', 'its service').choices(service).makeOptionMandatory())
  .requiredOption('--status <N>', 'the HTTP status', integer(400, 599))
  .option('--retry-after <SECONDS>', 'it is retryable, after so many seconds', integer(1, 3600))
  .option('--routes <NAMES>', 'the operation ids of the routes that return it', list, [])
  .action(
    exits((code, options) =>
      make((plan) => scaffoldProblem(plan, { code, ...options }), ['shared/problems', 'shared/contract']),
    ),
  );
command
  .command('operation')
  .description('an upstream operation: its row and schemas in the owner’s file, and the emulator')
  .argument(...named('a verb and a noun'), parsed(names.operationName))
  .requiredOption('--owner <OWNER>', 'the file in shared/platform/owners, without .ts')
  .addOption(new Option('--method <METHOD>').choices(['GET', 'POST'] as const).makeOptionMandatory())
  .requiredOption(
    '--path <PATH>',
    'below the platform’s base URL, with {parameters}',
    parsed(names.upstreamPath),
  )
  .option('--bound', 'the owner has published it; otherwise it is a gap', false)
  .action(
    exits((name, options) =>
      make((plan) => scaffoldOperation(plan, { name, ...options }), ['shared/platform', 'local/platform']),
    ),
  );
command
  .command('log-code')
  .description('a log code: its row')
  .argument('<CODE>', 'in capitals', parsed(names.form(/^[A-Z]+(?:_[A-Z]+)*$/, 'capitals and _')))
  .addOption(
    new Option('--level <LEVEL>').choices(['debug', 'info', 'warn', 'error'] as const).makeOptionMandatory(),
  )
  .option('--fields <LIST>', 'its fields, as in reason=word,count=number', parsed(names.fieldList), [])
  .action(
    exits((code, options) =>
      make((plan) => scaffoldLogCode(plan, { code, ...options }), ['shared/observability']),
    ),
  );
command
  .command('setting')
  .description('a setting of the stages: its member, its values, its row in docs/deploy.md')
  .argument(...named('in camel case'), parsed(names.camelName))
  .option('--optional', 'a stage can leave it out', false)
  .action(
    exits((name, options) =>
      make(
        (plan) => scaffoldSetting(plan, { name, ...options }),
        ['shared/stage', 'tools/docs/change-page.test.ts'],
      ),
    ),
  );
command
  .command('exposure')
  .description('a method of exposure control: rule, texts, engine, recovery study, oracle')
  .argument(...named('in camel case'), parsed(names.camelName))
  .option('--parameters <NAMES>', 'what a policy states beside the method', list, [])
  .action(
    exits((name, options) =>
      make(
        (plan) => scaffoldExposure(plan, { name, ...options }),
        ['functions/mastery/engine', 'psychometrics/recovery', 'shared/openapi', 'ops/release.test.ts'],
      ),
    ),
  );
command
  .command('holes')
  .description('lists the holes that are still open')
  .action(
    exits(() => {
      const holes = openHoles(root);
      console.log(holes.length === 0 ? 'no holes are open' : holeLines(holes).join('\n'));
      return ok(undefined);
    }),
  );

await run(command);
