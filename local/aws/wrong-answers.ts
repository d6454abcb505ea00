import { err, ok } from '#shared/kernel/result.ts';
import { isRecord } from './tables.ts';
import { type AwsAnswer, type AwsService, unrestricted } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns an answer of the same form about something else that the store holds: another item of the table, or another tenant's parameter. An answer
 * without content, such as that to a write, stays as it is.
 */
export async function answerAboutAnother(
  service: AwsService,
  input: Json,
  answer: AwsAnswer,
): Promise<AwsAnswer> {
  const content = (answer.ok ? answer.value : answer.error.extra) as Json | undefined;
  if (content === undefined) return answer;
  const given = (changed: Json): AwsAnswer =>
    answer.ok ? ok({ ...content, ...changed }) : err({ ...answer.error, extra: { ...content, ...changed } });
  if (service.name === 'dynamodb' && isRecord(content['Item']))
    return given({ Item: await otherItem(service, input, content['Item']) });
  if (service.name === 'dynamodb' && Array.isArray(content['Items'])) {
    const items = content['Items'] as readonly Json[];
    return given({ Items: await Promise.all(items.map((item) => otherItem(service, input, item))) });
  }
  if (service.name === 'ssm' && Array.isArray(content['Parameters'])) {
    const parameters = content['Parameters'] as readonly Json[];
    return given({
      Parameters: await Promise.all(parameters.map((parameter) => withOtherValue(service, parameter))),
    });
  }
  return answer;
}

/** Returns an item of the table under another partition key, or the same one if the table has no other. */
async function otherItem(service: AwsService, { TableName }: Json, item: Json): Promise<Json> {
  const scanned = await service.operations.get('Scan')?.({ TableName }, unrestricted);
  const { Items: items = [] } = (scanned?.ok === true ? scanned.value : {}) as { Items?: readonly Json[] };
  const partition = ({ pk, id }: Json): string => JSON.stringify(pk ?? id);
  return items.find((other) => partition(other) !== partition(item)) ?? item;
}

/** Returns a parameter with the value of the one that has the same last name elsewhere, as another tenant's does. */
async function withOtherValue(service: AwsService, parameter: Json): Promise<Json> {
  const [parent, name] = splitLast(String(parameter['Name']));
  const [path, tenant] = splitLast(parent);
  const listed = await service.operations.get('GetParametersByPath')?.(
    { Path: path, Recursive: true, WithDecryption: true },
    unrestricted,
  );
  const { Parameters: all = [] } = (listed?.ok === true ? listed.value : {}) as {
    Parameters?: readonly Json[];
  };
  const other = all.find(({ Name }) => {
    const [otherParent, otherName] = splitLast(String(Name));
    return otherName === name && splitLast(otherParent)[1] !== tenant;
  });
  return other === undefined ? parameter : { ...parameter, Value: other['Value'] };
}

const splitLast = (path: string): readonly [parent: string, last: string] => [
  path.slice(0, path.lastIndexOf('/')),
  path.slice(path.lastIndexOf('/') + 1),
];
