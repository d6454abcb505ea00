import { hole } from './holes.ts';
import { kebab } from './names.ts';
import type { Plan } from './plan.ts';
import { declaredNames, namesAt, type Place } from './source.ts';

export interface FilterOptions {
  readonly name: string;
  /** The operation id of a list. */
  readonly route: string;
  readonly appliedBy: 'owner' | 'service';
  /** The fact of a row that decides. */
  readonly fact: string;
}

/** Writes a query filter of a list: its entry in the row and its text; and, if the owner applies it, its query name and the emulator's own predicate. */
export function scaffoldFilter(
  plan: Plan,
  { name, route, appliedBy, fact }: FilterOptions,
): string | undefined {
  const [file] = plan.files(`shared/contract/*/routes/${kebab(route)}.ts`);
  if (file === undefined) return `unknown route "${route}": no file in shared/contract/*/routes`;
  const filters = ['filteredQuery()'];
  if (namesAt(plan.read(file), filters).length === 0)
    return `${file} calls no filteredQuery: ${route} is no list with filters`;
  const service = file.split('/')[2] ?? '';
  const isId = name.endsWith('Id');
  const schema = isId
    ? 'requestReference'
    : hole(`the schema of ${name}: text with a form, an enumeration, or instant`);
  plan.insert(file, filters, `${name}: { schema: ${schema}, appliedBy: '${appliedBy}', fact: '${fact}' }`);
  if (isId) plan.import(file, 'requestReference', '../primitives.ts');
  const text = hole(
    `which rows ${name} selects, and where a caller gets its value; of an enumeration { text, values }`,
  );
  const described = textsOf(plan, route);
  if (described === undefined)
    plan.fail(`no file of shared/contract/descriptions has parameters of ${route}`);
  else plan.insert(...described, `${name}: ${text}`);
  const values = hole(`the values of ${name}, as in bank blueprint; nothing if it is no enumeration`);
  const line = isId ? `'${route} ${name}'` : `\`${route} ${name} \${${values}}\``;
  if (service === 'reports')
    plan.insert('shared/contract/routes.test.ts', ['specifiedParameters'], line, 'sorted');
  return appliedBy === 'owner' ? scaffoldOwnersPart(plan, name, route, service) : undefined;
}

/** Finds the texts of a route's parameters. */
function textsOf(plan: Plan, route: string): [file: string, place: Place] | undefined {
  for (const file of plan.files('shared/contract/descriptions/*.ts'))
    for (const declared of declaredNames(plan.read(file)))
      for (const place of [[declared], [declared, 'parameters']])
        if (namesAt(plan.read(file), place).includes(route)) return [file, [...place, route]];
  return undefined;
}

/** Writes what the owner accepts, and what its emulator does with it. */
function scaffoldOwnersPart(plan: Plan, name: string, route: string, service: string): string | undefined {
  const sources = plan
    .files(`functions/${service}/endpoints/${kebab(route)}/*.ts`)
    .map((one) => plan.read(one));
  const called = new Set(sources.flatMap((text) => text.match(/(?<=\boperations\.)list\w+/g) ?? []));
  const [operation, other] = called;
  if (operation === undefined || other !== undefined)
    return `${route} does not read one list of an owner, so no owner can apply the filter`;
  const declares = (pattern: string, declared: string): string | undefined =>
    plan.files(pattern).find((file) => declaredNames(plan.read(file)).includes(declared));
  const owner = declares('shared/platform/owners/*.ts', operation);
  if (owner === undefined) return `no file of shared/platform/owners declares ${operation}`;
  plan.insert(owner, [operation, 'optionalQuery'], `'${name}'`);
  const table = `${operation}Filters`;
  const emulator = declares('local/platform/owners/*.ts', table);
  if (emulator === undefined) return `no file of local/platform/owners declares ${table}`;
  plan.insert(
    emulator,
    [table],
    `${name}: {
      schema: z.string(),
      passes: (row, value) => ${hole(`whether the owner lists a row for this ${name}, in the code of the emulator alone`)},
    }`,
  );
  return undefined;
}
