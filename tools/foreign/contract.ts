import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { exampleRequest } from '#local/call/example-request.ts';
import type { SavedRuns } from '#local/call/saved-runs.ts';
import type { Stack } from '#local/stack/stack.ts';
import { routes } from '#shared/contract/routes.ts';
import { ok } from '#shared/kernel/result.ts';
import { projectRoot } from '../checks/checks.ts';
import type { Part, Tried } from './part.ts';
import { buildFolder, pythonTool, runTool } from './python.ts';
import { startProduct, startRuns, tenantsOf } from './stack.ts';
import type { Tenant } from './stack.ts';

const folder = join(buildFolder, 'contract');
const CASES_PER_OPERATION = 10;
const SECONDS_PER_RUN = 300;

/** The configuration of every run. A seed draws the cases, so that the same ones are sent again. */
const configuration = `
seed = 1
continue-on-failure = true
warnings = false
[cache]
directory = ${JSON.stringify(join(folder, 'cache'))}
[generation]
database = "none"
max-examples = ${CASES_PER_OPERATION}
# Follows only the links of the documents. Whether a step takes a value from its link or draws one depends on no seed.
[phases.stateful]
max-steps = 6
inference.algorithms = []
# Declared problems: an owner has no answer that can be used. Some fixtures are there to cause them. A 500 is always a difference.
[checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", 502, 503]
# A valid request may name what is absent, contradict what is stored, or have a form that JSON Schema cannot describe.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 403, 404, 409, 412, 413, 422, 424, 502, 503]
# What schemathesis expects of an invalid request, and 413 of one that is too large.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 409, 413, 422, 428, 502, 503]
# 428 for If-Match, and 409 before it if the key was used for another request.
[checks.missing_required_header]
expected-statuses = [400, 401, 403, 409, 428]
# The gateway returns 404 for any method and path that it does not know.
[checks.unsupported_method]
enabled = false
`;
/** What the sandbox ignores on purpose (docs/sandbox.md): materialize looks only at method and path. */
const sandboxConfiguration = `
[[operations]]
include-operation-id = "materializeAttemptReport"
[operations.checks.negative_data_rejection]
enabled = false
[operations.checks.missing_required_header]
enabled = false
`;

export const contract: Part = {
  about: 'schemathesis over the OpenAPI documents, against the local stack with two tenants',
  async run() {
    const program = await pythonTool('schemathesis');
    return program.ok ? ok(await tryContract(program.value)) : program;
  },
};

async function tryContract(program: string): Promise<Tried> {
  const stack = await startProduct();
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const tenants = await Promise.all(
      (await tenantsOf(stack)).map(async (tenant) => ({
        ...tenant,
        saved: await startRuns(stack, tenant, 'foreign'),
      })),
    );
    const all: Tried[] = [];
    for (const tenant of tenants)
      for (const document of ['mastery', 'reports'] as const)
        all.push(await tryDocument(program, stack, document, tenant, tenants));
    all.push(await tryDocument(program, stack, 'sandbox'));
    return {
      tried: `${all.reduce((sum, { tried }) => sum + Number(tried), 0)} requests`,
      differences: all.flatMap(({ differences }) => differences),
    };
  } finally {
    await stack.close();
  }
}

/** A tenant with an adaptive run and an improvement run that it has started. */
interface TenantWithRuns extends Tenant {
  readonly saved: SavedRuns;
}

const report = z.object({
  complete: z.boolean(),
  errors: z.array(z.object({ title: z.string() })),
  test_cases: z.object({ generated: z.int() }),
  failures: z.array(z.object({ title: z.string(), operations: z.array(z.string()) })),
});

/**
 * Sends requests to the operations of one document.
 * @param tenant whose requests they are
 * @param tenants none of them may see an object of another one
 */
async function tryDocument(
  program: string,
  { urls }: Stack,
  document: 'mastery' | 'reports' | 'sandbox',
  tenant?: TenantWithRuns,
  tenants: readonly Tenant[] = [],
): Promise<Tried> {
  const name = tenant === undefined ? document : `${document}-${tenant.tenantId}`;
  const file = (ending: string): string => join(folder, `${name}.${ending}`);
  const values = tenant === undefined ? {} : pathValues(tenant);
  writeFileSync(file('openapi.json'), JSON.stringify(documentFor(document, tenant)));
  const auth = tenants.map(({ tenantId, token }) => ({
    name: tenantId,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${token}` }],
  }));
  writeFileSync(file('users.json'), JSON.stringify({ auth }), { mode: 0o600 });
  const lines = [
    configuration,
    ...(tenant === undefined
      ? [sandboxConfiguration]
      : [
          `[auth.wfc]\npath = ${JSON.stringify(file('users.json'))}\nuser = "${tenant.tenantId}"`,
          `peers = ${JSON.stringify(tenants.map(({ tenantId }) => tenantId))}`,
        ]),
    ...Object.entries(values).flatMap(([parameter, list]) => [
      `[dictionaries.${parameter}]\nvalues = ${JSON.stringify(list)}`,
      `[parameters."path.${parameter}"]\ndictionary = "${parameter}"\nprobability = 0.7`,
    ]),
  ];
  writeFileSync(file('toml'), lines.join('\n'));
  const args = [
    ...['--config-file', file('toml'), 'run', file('openapi.json'), '--url', urls[`${document}Url`]],
    ...['--no-color', '--report', 'json', '--report-json-path', file('report.json')],
  ];
  const { stdout, stderr } = await runTool(program, args, SECONDS_PER_RUN);
  writeFileSync(file('log'), `${stdout}${stderr}`);
  const {
    complete,
    errors,
    failures,
    test_cases: cases,
  } = report.parse(JSON.parse(readFileSync(file('report.json'), 'utf8')));
  const differences = [
    ...(complete ? [] : ['did not come to its end']),
    ...errors.map(({ title }) => title),
    ...failures.map(({ title, operations }) => `${title}: ${operations.join(', ')}`),
  ];
  return {
    tried: String(cases.generated),
    differences: differences.map((line) => `${name}: ${line} (${file('log')})`),
  };
}

/** The values of a tenant's path parameters, in addition to drawn ones. */
function pathValues({ fixtures, saved }: TenantWithRuns): Readonly<Record<string, readonly string[]>> {
  const { mastery, reports } = fixtures;
  const { special } = reports;
  const schools = [...reports.schools, ...special.schoolsWithoutRollup, ...special.schoolsWithheld];
  return {
    attemptId: [...Object.values(reports.attempts), ...Object.values(special.attempts)],
    candidateSourcedId: [...Object.values(reports.candidates), ...special.studentsDeleted],
    classSourcedId: [...reports.classes, ...special.classesWithoutRollup, ...special.classesWithheld],
    schoolSourcedId: schools.map(({ schoolSourcedId }) => schoolSourcedId),
    grade: schools.map(({ grade }) => grade),
    qtiTestId: Object.values(reports.forms),
    administrationId: [...reports.administrations, ...Object.values(special.administrations)],
    improvementRunId: [saved.improvement?.improvementRunId ?? ''],
    sourceKey: reports.sourceKeys,
    policyId: mastery.banks.map(({ selectionPolicyId }) => selectionPolicyId),
    calibrationId: mastery.banks.map(({ scaleCalibrationId }) => scaleCalibrationId),
  };
}

interface Schema extends Readonly<Record<string, unknown>> {
  readonly $ref?: string;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    schema: Schema;
    example?: unknown;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { example: unknown } } };
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * Returns a published document as this tenant's requests need it: its examples name what the tenant has. Schemathesis 4.32 stops at a path parameter with
 * values of ours whose schema is a reference, so the references of path parameters are resolved.
 */
function documentFor(name: 'mastery' | 'reports' | 'sandbox', tenant: TenantWithRuns | undefined): OpenApi {
  // SAFETY: generated from the rows of the routes.
  const published = JSON.parse(
    readFileSync(join(projectRoot, `docs/openapi/${name}.json`), 'utf8'),
  ) as OpenApi;
  const resolved = ({ $ref, ...own }: Schema): Schema => {
    const named = published.components.schemas[$ref?.split('/').at(-1) ?? ''];
    return named === undefined ? own : { allOf: [own, resolved(named)] };
  };
  for (const operation of Object.values(published.paths).flatMap((methods) => Object.values(methods))) {
    const route = routes.find((row) => row.operationId === operation.operationId);
    const example = tenant && route && exampleRequest(route, tenant.fixtures, tenant.saved);
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'path') parameter.schema = resolved(parameter.schema);
      if (parameter.name === 'If-Match') parameter.example = example?.ifMatch;
    }
    const body = operation.requestBody?.content['application/json'];
    if (body !== undefined && example?.body !== undefined) body.example = JSON.parse(example.body) as unknown;
  }
  return published;
}
