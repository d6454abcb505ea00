import { hole } from './holes.ts';
import { capital, kebab, parametersOf, subjectOf } from './names.ts';
import type { Plan } from './plan.ts';
import { declaredNames, namesAt } from './source.ts';

export interface RouteOptions {
  readonly operation: string;
  readonly service: 'mastery' | 'reports';
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: boolean;
  /** The function of the service's endpoints that makes what the operation depends on; undefined: it depends on nothing. */
  readonly dependencies: string | undefined;
  /** Names of values in path and body that name something of a tenant. */
  readonly owned: readonly string[];
}

/** The schema of an id in a path. */
const idSchemas = { mastery: 'requestIdentifier', reports: 'requestReference' } as const;

/** What the templates of one route use. */
interface Parts extends RouteOptions {
  readonly folder: string;
  readonly parameters: readonly string[];
  /** The name of the success schema. */
  readonly schema: string;
  readonly schemaFile: string;
  readonly bodySchema: string;
  readonly endpoint: string;
  /** The module of the dependencies, seen from the endpoint's folder. */
  readonly dependenciesModule: string;
  readonly row: string;
}

/** Writes a route: row, schemas, texts, handler, operation with its test, proof subject, request of the lemmas, line in the table of routes. */
export function scaffoldRoute(plan: Plan, options: RouteOptions): string | undefined {
  const { operation, service, method, path, body, owned, dependencies } = options;
  const parameters = parametersOf(path);
  if (body && method === 'GET') return 'a GET takes no body: leave out --body';
  const unknown = owned.find((name) => !body && !parameters.includes(name));
  if (unknown !== undefined) return `--owned ${unknown} is no parameter of ${path}`;
  const list = `shared/contract/${service}/routes.ts`;
  if (namesAt(plan.read(list), [`${service}Routes`]).includes(operation))
    return `${list} already has ${operation}`;
  const makers = plan.files(`functions/${service}/endpoints/support/*.ts`);
  const maker = makers.find((file) => declaredNames(plan.read(file)).includes(dependencies ?? ''));
  if (dependencies !== undefined && maker === undefined)
    return `no file of functions/${service}/endpoints/support declares ${dependencies}`;
  const schema = method === 'GET' ? subjectOf(operation) : `${operation}Response`;
  for (const file of plan.files(`shared/contract/${service}/*.ts`))
    if (declaredNames(plan.read(file)).includes(schema))
      return `${file} already declares ${schema}, the name of the response: choose another operation id`;
  const parts: Parts = {
    ...options,
    folder: kebab(operation),
    parameters,
    schema,
    schemaFile: method === 'GET' ? kebab(schema) : kebab(operation),
    bodySchema: `${operation}Request`,
    endpoint: `functions/${service}/endpoints/${kebab(operation)}`,
    dependenciesModule: `../support/${maker?.split('/').at(-1) ?? ''}`,
    row: `#shared/contract/${service}/routes/${kebab(operation)}.ts`,
  };
  scaffoldContract(plan, parts);
  scaffoldTexts(plan, parts);
  scaffoldEndpoint(plan, parts);
  scaffoldTests(plan, parts);
  return undefined;
}

/** Writes the row, its schemas, and its place among the rows of the service. */
function scaffoldContract(plan: Plan, parts: Parts): void {
  const { operation, service, method, path, folder, body, parameters, dependencies } = parts;
  const { schema, schemaFile, bodySchema } = parts;
  const object = (what: string): string => `z.strictObject({ ...${hole(what)} })`;
  plan.create(
    `shared/contract/${service}/${schemaFile}.ts`,
    `import * as z from 'zod';

${body ? `export const ${bodySchema} = ${object(`the members of ${bodySchema}, each with its schema`)};\n\n` : ''}export const ${schema} = ${object(`the members of ${schema}, each with its schema and bounds`)};
`,
  );
  const isRead = method === 'GET';
  const id = idSchemas[service];
  const grants = [
    ...(isRead ? [] : [`'control:write'`, `'keys:idempotency'`]),
    ...(dependencies === undefined
      ? []
      : [`...${hole(`what ${dependencies} touches, a list of grants such as those of its other routes`)}`]),
  ];
  const request = [
    ...(parameters.length === 0
      ? []
      : [`path: z.strictObject({ ${parameters.map((name) => `${name}: ${id}`).join(', ')} })`]),
    ...(body ? [`body: ${bodySchema}`] : []),
  ];
  const imports = [
    ...(parameters.length === 0 ? [] : [`import * as z from 'zod';`]),
    `import { defineRoute } from '../../route.ts';`,
    `import { ${[schema, ...(body ? [bodySchema] : [])].sort().join(', ')} } from '../${schemaFile}.ts';`,
    ...(parameters.length === 0 ? [] : [`import { ${id} } from '../primitives.ts';`]),
  ];
  plan.create(
    `shared/contract/${service}/routes/${folder}.ts`,
    `${imports.join('\n')}

export const ${operation} = defineRoute({
  service: '${service}',
  method: '${method}',
  operationId: '${operation}',
  path: '${path}',
  summary: ${hole(`what a caller of ${operation} gets, as a heading: a verb and a noun, no full stop`)},
  description: ${hole(`what ${operation} returns or does, when it returns 404, and what a repeated request gets`)},
  scope: ${isRead ? `'${service}:read'` : hole(`the scope of ${operation}, such as mastery:run, or reports:write`)},
  ${service === 'reports' ? `gates: ${hole(`the release gates that open ${operation}, a list of A to F`)},` : ''}
  request: { ${request.join(', ')} },
  success: { schema: ${schema}, example: ${hole(`a complete response of ${operation}, as in examples.ts beside the schemas`)} },
  ${body ? `requestExample: ${hole(`a complete body of ${operation}`)},` : ''}
  budget: ${hole(`the most upstream calls of ${operation}, and how many wait for one another: { calls: 0, depth: 0 } asks no owner`)},
  lambda: {
    memoryMb: 512,
    timeoutSeconds: 15,
    grants: [${grants.join(', ')}],
    impact: ${hole(`the alarm of ${operation}: what clients cannot do while it fails, and what still works`)},
  },
});
`.replaceAll(/^ +\n/gm, ''),
  );
  const list = `shared/contract/${service}/routes.ts`;
  plan.insert(list, [`${service}Routes`], operation);
  plan.import(list, operation, `./routes/${folder}.ts`);
}

/** Writes the texts of the parameters, the components and, if the first segment of the path is new, the tag. */
function scaffoldTexts(plan: Plan, parts: Parts): void {
  const { operation, service, path, body, schema, schemaFile, bodySchema, parameters } = parts;
  const file = `shared/contract/descriptions/${service}.ts`;
  const [root, module] = [`${service}Descriptions`, `#shared/contract/${service}/${schemaFile}.ts`];
  const component = (name: string, about: string): void => {
    const fields = hole(`the text of each field of ${name}: meaning, unit, range, when it is null or absent`);
    plan.insert(
      file,
      [root, 'components'],
      `${capital(name)}: component(${name}, { about: ${hole(about)}, fields: ${fields} })`,
    );
    plan.import(file, name, module);
  };
  plan.import(file, 'component', './text.ts');
  component(schema, `what ${schema} is, in one sentence`);
  if (body) component(bodySchema, `what ${bodySchema} asks for, in one sentence`);
  if (parameters.length > 0) {
    const texts = parameters.map(
      (name) => `${name}: ${hole(`what ${name} names, and where a caller gets it`)}`,
    );
    plan.insert(file, [root, 'parameters'], `${operation}: { ${texts.join(', ')} }`);
  }
  const [, tag = ''] = /^\/v1\/([^/:]+)/.exec(path) ?? [];
  if (!namesAt(plan.read(file), [root, 'tags']).includes(tag))
    plan.insert(file, [root, 'tags'], `'${tag}': ${hole(`what the operations below /v1/${tag} are about`)}`);
}

/** Writes handler, operation and the operation's test. */
function scaffoldEndpoint(plan: Plan, parts: Parts): void {
  const { operation, method, row, endpoint, schema, parameters, body, dependencies, dependenciesModule } =
    parts;
  const create = method === 'GET' ? 'createReadLambda' : 'createLambda';
  const module = method === 'GET' ? 'read-lambda' : 'lambda';
  plan.create(
    `${endpoint}/handler.ts`,
    `import { ${operation} } from '${row}';
import { processRuntime } from '#shared/lambda/process-runtime.ts';
import { ${create} } from '#shared/lambda/${module}.ts';
import { startFunction } from '#shared/lambda/start-function.ts';
${dependencies === undefined ? '' : `import { ${dependencies} } from '${dependenciesModule}';\n`}import { ${operation}Operation } from './operation.ts';

/** The Lambda of ${operation}: the pipeline around the operation, bound to a runtime. */
export const bind = ${create}(${operation}, ${
      dependencies === undefined
        ? `() => ${operation}Operation()`
        : `(runtime) => ${operation}Operation(${dependencies}(runtime))`
    });

export const handler = await startFunction(bind, processRuntime());
`,
  );
  const given = [
    ...(dependencies === undefined ? [] : ['principal']),
    ...(parameters.length === 0 ? [] : ['path']),
    ...(body ? ['body'] : []),
    ...(method === 'POST' ? ['idempotent'] : []),
  ];
  const isPure = dependencies === undefined;
  const named = method === 'POST' ? '; what it writes is named by `control` or by its content alone' : '';
  const work = isPure
    ? `Promise.resolve(ok({ body: ${hole(`the ${schema} of this request${named}`)} }))`
    : hole(`await what ${operation} reads, then ok({ body }) or err(problem(…))${named}`);
  const request = given.length === 0 ? '' : `{ ${given.join(', ')} }`;
  const asynchronous = isPure ? '' : 'async ';
  plan.create(
    `${endpoint}/operation.ts`,
    `import type { ${operation} } from '${row}';
import type { Operation } from '#shared/http/operation.ts';
import { ${isPure ? '' : 'err, '}ok } from '#shared/kernel/result.ts';
${isPure ? '' : `import { problem } from '#shared/problems/registry.ts';\nimport type { ${dependencies} } from '${dependenciesModule}';\n`}
/** ${hole(`what ${operation} does, and which failures it returns`)} */
export function ${operation}Operation(${isPure ? '' : `dependencies: ReturnType<typeof ${dependencies}>`}): Operation<typeof ${operation}> {
  return ${
    method === 'GET'
      ? `${asynchronous}(${request}) => ${work}`
      : `(${request}) => idempotent(${asynchronous}(control) => ${work})`
  };
}
`,
  );
  plan.create(
    `${endpoint}/operation.test.ts`,
    `import { beforeAll, describe, expect, it } from 'vitest';
import { ${operation} } from '${row}';
import { testLambda, type TestLambda } from '#test/support/lambda.ts';
import { ${operation}Operation } from './operation.ts';

describe('${operation}', () => {
  let lambda: TestLambda;
  beforeAll(async () => {
    lambda = await testLambda(${operation}, ${operation}Operation(${
      dependencies === undefined ? '' : hole(`${dependencies} in memory, as the tests beside it have them`)
    }));
  });

  it('serves a request', async () => {
    const { status, body } = await lambda.invoke(${requestOf(parts)});
    expect(status).toBe(200);
    expect(body).toEqual(${hole(`the response of ${operation} to this request, from its definition and not from the code`)});
  });
});
`,
  );
}

/** Renders the part of a request that a test or a proof names. */
function requestOf({ operation, parameters, body }: Parts, route = ''): string {
  const path = parameters.map((name) => `${name}: ${hole(`a ${name} that ${operation} serves`)}`);
  const members = [
    ...(route === '' ? [] : [route]),
    ...(parameters.length === 0 ? [] : [`path: { ${path.join(', ')} }`]),
    ...(body
      ? [
          route === ''
            ? `body: ${operation}.requestExample`
            : `body: ${hole(`a body that ${operation} serves`)}`,
        ]
      : []),
  ];
  return members.length === 0 ? '' : `{ ${members.join(', ')} }`;
}

/** Writes the proof subject, the request of the lemmas and the line in the table of the specification's test. */
function scaffoldTests(plan: Plan, parts: Parts): void {
  const { operation, service, method, path, owned, parameters, body } = parts;
  const ask = requestOf(parts, `route: routes.${operation}`);
  const own = owned.length === 0 ? `() => Promise.resolve(ok(${ask}))` : ownRequest(parts, ask);
  const narrowed = hole(`whether resource claims restrict ${operation} within its tenant`);
  plan.insert(
    `ops/proof/${service}-subjects.ts`,
    [`${service}Subjects`],
    `{
      name: '${operation}',
      route: routes.${operation},
      needs: ${owned.length === 0 || service === 'mastery' ? `'/${service}'` : hole(`the member of a tenant’s file that ${operation} needs, such as /reports/qtiTestId`)},
      narrowed: ${owned.length === 0 || service === 'mastery' ? 'false' : narrowed},
      repeatable: true,
      own: ${own},
    }`,
  );
  const places = owned.map((name) => `['${parameters.includes(name) ? 'path' : 'body'}', '${name}']`);
  const members = [
    ...(parameters.length === 0
      ? []
      : [
          `path: { ${parameters.map((name) => `${name}: ${hole(`a ${name} of the fixtures that ${operation} serves`)}`).join(', ')} }`,
        ]),
    ...(body
      ? [`body: ${hole(`a body of the fixtures that ${operation} serves, as often as it is sent`)}`]
      : []),
  ];
  const openers = hole(
    `the claims that ${operation} takes, each sufficient alone; delete the line if it takes none`,
  );
  const isOwnedBody = owned.some((name) => !parameters.includes(name));
  const otherBody =
    body && !isOwnedBody
      ? `otherBody: ${hole(`another body that ${operation} serves, for the conflict of a repeated key`)},\n`
      : '';
  plan.insert(
    'test/lemmas/worlds.ts',
    ['recipes'],
    `${operation}: {
      owned: [${places.join(', ')}],
      ${otherBody}      request: (${members.length === 0 || owned.length === 0 ? '' : 'tenant'}) => ({ ${members.join(', ')} }),
      ${owned.length === 0 || service === 'mastery' ? '' : `openers: (tenant) => ${openers},`}
    }`,
  );
  const scope = method === 'GET' ? `${service}:read` : `\${${hole(`the scope of ${operation}`)}}`;
  const rest = service === 'mastery' ? '200' : `\${${hole(`the gates of ${operation}, as in A+D`)}}`;
  const takes = [...(body ? [' body'] : []), ...(method === 'POST' ? [' Idempotency-Key'] : [])].join('');
  plan.insert(
    'shared/contract/routes.test.ts',
    ['specified', service],
    `\`${method} ${path} ${scope} ${rest}${takes}\``,
  );
}

/** Renders the request of a proof subject for the tenant's own resource. */
function ownRequest({ service }: Parts, ask: string): string {
  return service === 'mastery'
    ? `(tenant) => Promise.resolve(ofFixture(tenant, (fixture) => (${ask})))`
    : `({ side, reports }) => Promise.resolve(reports === undefined ? err(\`the file of tenant \${side} has no /reports\`) : ok(${ask}))`;
}
