import { hole, typeHole } from './holes.ts';
import { capital, snake } from './names.ts';
import type { Plan } from './plan.ts';
import { addCase, namesAt } from './source.ts';

export interface ExposureOptions {
  /** In camel case. */
  readonly name: string;
  /** The parameters that a policy states. */
  readonly parameters: readonly string[];
}

const SELECTION = 'functions/mastery/engine/selection.ts';
const CONTRACT = 'shared/contract/mastery/selection-policy.ts';
const REFERENCE = 'test/reference/exposure-methods.ts';

/**
 * Writes a method of exposure control: its rule and texts, its place in the engine, its row in the recovery study, its definition in the oracle.
 * @returns why it cannot be written, as every scaffold does
 */
export function scaffoldExposure(plan: Plan, { name, parameters }: ExposureOptions): string | undefined {
  const [method, schema] = [snake(name), `${name}Exposure`];
  if (namesAt(plan.read(REFERENCE), ['methods']).includes(method))
    return `${REFERENCE} already has ${method}`;
  const each = (code: (parameter: string) => string): string => parameters.map(code).join('');
  plan.append(
    CONTRACT,
    `export const ${schema} = z.strictObject({
      method: z.literal('${method}'),
      ${each((one) => `${one}: ${hole(`the schema of ${one}, with its bounds`)},\n`)}
    });`,
    'exposureRule',
  );
  plan.insert(CONTRACT, ['exposureRule'], schema);
  const texts = 'shared/contract/descriptions/mastery.ts';
  plan.insert(
    texts,
    ['masteryDescriptions', 'components'],
    `${capital(schema)}: component(${schema}, {
      about: ${hole(`how ${method} controls exposure, in one sentence`)},
      fields: {
        method: {
          text: 'The method of exposure control.',
          values: { ${method}: ${hole(`which item ${method} takes`)} },
        },
        ${each((one) => `${one}: ${hole(`what ${one} sets, its unit and range`)},\n`)}
      },
    })`,
  );
  plan.import(texts, schema, '#shared/contract/mastery/selection-policy.ts');

  plan.insert(
    'functions/mastery/engine/exposure.ts',
    ['Exposure'],
    `/** ${hole(`which item ${method} takes, with its source`)} */
    { readonly method: '${method}'; ${each((one) => `readonly ${one}: ${typeHole(`the type of ${one}`)}; `)} }`,
  );
  const take = hole(
    `the item that ${method} takes, by a function of exposure.ts that draws with the seed of the run`,
  );
  plan.edit(SELECTION, (text) => addCase(text, 'exposure?.method', `case '${method}': return ${take};`));

  const given = each((one) => `, ${one}: ${hole(`the ${one} that the study uses`)}`);
  plan.insert(
    'psychometrics/recovery/exposure.ts',
    ['exposureMethods'],
    `${method}: { rule: () => ({ method: '${method}'${given} }) }`,
  );
  plan.insert(
    REFERENCE,
    ['methods'],
    `${method}: {
      example: () => ({ rule: { method: '${method}'${each((one) => `, ${one}: ${hole(`a sound ${one}`)}`)} } }),
      arbitrary: ${
        parameters.length === 0
          ? `() => fc.constant({ method: '${method}' })`
          : `(mostItems) => ${hole('rules with every kind of parameter, for pools of at most mostItems items')}`
      },
      take: (${parameters.length === 0 ? '_' : 'rule'}, offers) => ${hole(`the item of ${method} by its definition, in the code of the oracle alone`)},
    }`,
  );
  return undefined;
}
