import { hole } from './holes.ts';
import { capital, parametersOf, snake, subjectOf } from './names.ts';
import type { Plan } from './plan.ts';
import { declaredNames } from './source.ts';

export interface OperationOptions {
  readonly name: string;
  /** The file of the owner, without its ending. */
  readonly owner: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly bound: boolean;
}

/** Writes an upstream operation: its row and schemas in the owner's file, and the emulator's answer. */
export function scaffoldOperation(
  plan: Plan,
  { name, owner, method, path, bound }: OperationOptions,
): string | undefined {
  const [contract, emulator] = [`shared/platform/owners/${owner}.ts`, `local/platform/owners/${owner}.ts`];
  if (!plan.has(contract) || !plan.has(emulator)) {
    const owners = plan
      .files('local/platform/owners/*.ts')
      .filter((file) => plan.has(`shared${file.slice(5)}`));
    const names = owners.map((file) => /(\w[\w-]*)\.ts$/.exec(file)?.[1]);
    plan.fail(`unknown owner "${owner}": expected ${names.join(', ')}; docs/change.md shows how to add one`);
    return;
  }
  const rows = plan.read(contract);
  // The ids of an owner's rows have a common prefix; a row whose id does not name its service names it in a member.
  const prefix = /\bid: '([\w-]+)\./.exec(rows)?.[1] ?? owner;
  const service = /^ {2}service: '\w+',\n/m.exec(rows)?.[0] ?? '';
  const answer = method === 'GET' ? subjectOf(name) : `${subjectOf(name)}Ack`;
  const body = `${subjectOf(name)}Request`;
  const taken = [name, answer, body].find((one) => declaredNames(rows).includes(one));
  if (taken !== undefined) return `${contract} already declares ${taken}`;

  const about = `/** ${capital(owner)}: ${hole(`what the owner holds for ${name}, in one sentence`)} */`;
  const members = hole(`the members that the owner publishes for ${name}, each with its schema`);
  const row = method === 'GET' ? 'readFor' : 'idempotentWrite';
  const uses = hole(`what the answers of ${name} are used for, as shared/platform/verdicts.ts lists it`);
  plan.append(
    contract,
    `${
      method === 'GET'
        ? `${about}\nexport const ${answer} = z.object({ tenantId: ownerId, ...versioned, ...${members} });`
        : `${about}\nexport const ${body} = z.strictObject(${members});
           export type ${capital(body)} = z.infer<typeof ${body}>;

           export const ${answer} = z.looseObject({ tenantId: ownerId, ...${hole('the members by which the owner acknowledges what it wrote')} });`
    }
    export type ${capital(answer)} = z.infer<typeof ${answer}>;

    export const ${name} = ${method === 'GET' ? `${row}(${uses})` : row}({
      id: '${prefix}.${snake(name)}',
      ${service}path: '${path}',
      ${bound ? `status: 'bound',\n` : ''}${method === 'POST' ? `body: ${body},\n` : ''}answer: ${answer},
      ${method === 'POST' ? `uses: [${uses}],\necho: ${hole(`the members of the answer of ${name} that repeat a value of the call, as { member: 'name' }`)},\n` : ''}      rule: ${hole(`the rule of ${name} that the client keeps beyond the schema, one sentence for the contract page`)},
    });`,
  );
  plan.import(contract, '* as z', 'zod');
  plan.import(contract, row, '#shared/platform/operation.ts');
  plan.import(contract, 'ownerId', './primitives.ts');
  if (method === 'GET') plan.import(contract, 'versioned', './primitives.ts');

  const identities = parametersOf(path).map((parameter) => `'/${parameter}'`);
  const decoded = `{ ${parametersOf(path)
    .map((parameter) => `${parameter} = ''`)
    .join(', ')} }`;
  const serve = method === 'GET' ? 'serveEdition' : 'serve';
  const routes = declaredNames(plan.read(emulator)).find((declared) => declared.endsWith('Routes')) ?? '';
  const found = hole(
    `what the tenant holds for ${name}; its data and their type are in local/platform/tenant-state.ts`,
  );
  plan.insert(
    emulator,
    [routes],
    method === 'GET'
      ? `serveEdition(operations.${name}, [${identities.join(', ')}], ({ tenant, path: ${decoded} }) => ${found})`
      : `serve(operations.${name}, {
          identities: [${identities.join(', ')}],
          demandsIdempotencyKey: true,
          handle: ({ tenant, path: ${decoded}, body }) => ${hole('the answer to a write and to its repetition, and the refusals')},
        })`,
  );
  plan.import(emulator, '* as operations', '#shared/platform/operations.ts');
  plan.import(emulator, serve, method === 'GET' ? '../serve-edition.ts' : '../route.ts');
  return undefined;
}
