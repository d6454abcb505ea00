import * as z from 'zod';

/*
 * Policies of AWS, evaluated: roles (identity-based), and the policies of tables, buckets, queues and keys (resource-based). Only the elements,
 * operators and condition keys of our templates: anything else is a TypeError that names it, when the policy is read, so that no part of a policy is
 * ever passed over. Session policies, permissions boundaries and the policies of an organization are not in the templates.
 */

/** The values of condition keys in one request; a key that is not in it is absent. */
export type Context = Readonly<Record<string, readonly string[]>>;

/** One action on one resource, which a request is about to do. */
export interface Need {
  /** `<service>:<action>`. */
  readonly action: string;
  /** An ARN, or `*` for an action without a resource. */
  readonly resource: string;
  readonly context?: Context;
}

/** A role, or the user who may do everything that no resource's policy denies. */
export interface Principal {
  /** `aws:PrincipalArn`: of the role, not of its session. */
  readonly arn: string;
  readonly account: string;
  readonly policy: Policy | 'everything';
}

export type Decision =
  | {
      readonly allowed: true;
      /** The parts of the role that were used, as `grantedBy` lists them. */
      readonly uses: readonly string[];
    }
  | { readonly allowed: false; readonly reason: string };

export interface Policy {
  readonly statements: readonly Compiled[];
  readonly kind: PolicyKind;
}
type PolicyKind = 'identity-based' | 'resource-based';

interface Compiled {
  readonly isDeny: boolean;
  /** Every combination of an action, a resource and the values of conditions that the statement lists. */
  readonly parts: readonly string[];
  /** The parts that the request falls under; undefined: the statement is not about it. */
  readonly match: (need: Need, context: Context) => readonly string[] | undefined;
}

const texts = z.union([z.string(), z.array(z.string()).readonly()]).transform((value) => [value].flat());
/** Strict: `NotAction`, `NotResource` and `NotPrincipal` are refused by name. */
const schema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Principal: z.strictObject({ AWS: z.string() }).optional(),
  Action: texts,
  Resource: texts,
  Condition: z.record(z.string(), z.record(z.string(), texts)).default({}),
});

/**
 * Reads a policy.
 * @throws TypeError for what the evaluator does not know
 */
export function readPolicy(kind: PolicyKind, statements: readonly unknown[], account: string): Policy {
  return { kind, statements: statements.map((statement) => compile(kind, statement, account)) };
}

function compile(kind: PolicyKind, given: unknown, account: string): Compiled {
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    throw new TypeError(`the policy evaluator cannot read a statement: ${z.prettifyError(parsed.error)}`);
  const { Effect, Principal, Action, Resource, Condition } = parsed.data;
  checkPrincipal(kind, Effect, Principal?.AWS, account);
  if (JSON.stringify(given).includes('${'))
    throw new TypeError('the policy evaluator does not know policy variables');
  const actions = Action.map((text) => ({ text, matches: pattern(text, 'i') }));
  const resources = Resource.map((text) => ({ text, matches: pattern(text) }));
  const conditions = Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => condition(operator, key, values)),
  );
  const partsOf = (all: readonly (readonly string[])[]): readonly string[] =>
    all.reduce<readonly string[]>(
      (parts, texts) =>
        parts.flatMap((part) => texts.map((text) => (part === '' ? text : `${part} ${text}`))),
      [''],
    );
  return {
    isDeny: Effect === 'Deny',
    parts: partsOf([Action, Resource, ...conditions.map(({ all }) => all)]),
    match(need, context) {
      const action = actions.filter(({ matches }) => matches.test(need.action));
      const resource = resources.filter(({ matches }) => matches.test(need.resource));
      if (action.length === 0 || resource.length === 0) return undefined;
      // All conditions must hold.
      const held = conditions.map(({ test }) => test(context));
      if (!held.every((texts) => texts !== undefined)) return undefined;
      return partsOf([action.map(({ text }) => text), resource.map(({ text }) => text), ...held]);
    },
  };
}

/**
 * A role names no principal. The policy of a resource denies everyone something, or hands the decision to the roles of its own account, as the
 * policy of a key must. An Allow to anyone else would be enough without a role: our templates have none.
 */
function checkPrincipal(
  kind: PolicyKind,
  effect: 'Allow' | 'Deny',
  principal: string | undefined,
  account: string,
): void {
  const known =
    kind === 'identity-based' ? undefined : effect === 'Deny' ? '*' : `arn:aws:iam::${account}:root`;
  if (principal !== known)
    throw new TypeError(
      `the policy evaluator does not know the principal ${principal} under ${effect} in ${kind === 'identity-based' ? 'an' : 'a'} ${kind} policy`,
    );
}

/** `*` matches any characters, `?` one. Resources are compared by case, actions are not. */
function pattern(text: string, flags = ''): RegExp {
  const source = RegExp.escape(text)
    .replaceAll(String.raw`\*`, '.*')
    .replaceAll(String.raw`\?`, '.');
  return new RegExp(`^${source}$`, `${flags}s`);
}

/** Condition keys that have one value, and those that may have several in one request. */
const singleValued =
  /^(aws:(PrincipalArn|SecureTransport)|dynamodb:Select|s3:if-(none-)?match|kms:EncryptionContext:.+)$/;
const multivalued = /^dynamodb:(Attributes|LeadingKeys)$/;

interface Operator {
  readonly keys: RegExp;
  /** The values of the policy under which those of the request fall; undefined: the condition does not hold. */
  readonly test: (
    values: readonly string[],
    actual: readonly string[] | undefined,
  ) => readonly string[] | undefined;
}

const some = (values: readonly string[]) => (values.length === 0 ? undefined : values);
const oneOf =
  (matches: (value: string, actual: string) => boolean): Operator['test'] =>
  (values, [actual] = []) =>
    actual === undefined ? undefined : some(values.filter((value) => matches(value, actual)));

/**
 * The operators ("IAM JSON policy elements: Condition operators"). With an absent key, an operator that compares is false, and its negation true;
 * so is `ForAllValues`, which an Allow should therefore not rely on for an action that never has the key ("Multivalued context keys").
 */
const forAllValues = (matches: (value: string, actual: string) => boolean): Operator => ({
  keys: multivalued,
  test: (values, actual = []) =>
    actual.every((one) => values.some((value) => matches(value, one)))
      ? (some(values.filter((value) => actual.some((one) => matches(value, one)))) ?? ['(absent)'])
      : undefined,
});
const operators: Readonly<Record<string, Operator>> = {
  StringEquals: { keys: singleValued, test: oneOf((value, actual) => value === actual) },
  StringLike: { keys: singleValued, test: oneOf((value, actual) => pattern(value).test(actual)) },
  Bool: { keys: singleValued, test: oneOf((value, actual) => value === actual) },
  ArnNotEquals: {
    keys: singleValued,
    test: (values, [actual] = []) =>
      actual !== undefined && values.some((value) => pattern(value).test(actual)) ? undefined : [''],
  },
  Null: {
    keys: singleValued,
    test: (values, actual) => some(values.filter((value) => value === String(actual === undefined))),
  },
  'ForAllValues:StringEquals': forAllValues((value, actual) => value === actual),
  'ForAllValues:StringLike': forAllValues((value, actual) => pattern(value).test(actual)),
};

function condition(name: string, key: string, values: readonly string[]) {
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator === undefined) throw new TypeError(`the policy evaluator does not know the operator ${name}`);
  if (!operator.keys.test(key))
    throw new TypeError(`the policy evaluator does not know the condition key ${key} under ${name}`);
  const show = (value: string): string => `${key}=${value}`;
  return {
    all: values.map(show),
    test: (context: Context) =>
      operator.test(values, Object.hasOwn(context, key) ? context[key] : undefined)?.map(show),
  };
}

/**
 * Decides as AWS does within one account ("Policy evaluation logic"): a Deny of any policy comes first; then the role must allow the action, and for
 * a key also the key's own policy, without which no role can. What nothing allows is denied.
 */
export function decide(principal: Principal, need: Need, ofResource: Policy): Decision {
  const context: Context = {
    ...need.context,
    'aws:PrincipalArn': [principal.arn],
    // The endpoints that the emulator replaces have TLS; its own is on the loopback interface.
    'aws:SecureTransport': ['true'],
  };
  const matches = ({ statements }: Policy, isDeny: boolean): readonly string[] =>
    statements.flatMap((statement) =>
      statement.isDeny === isDeny ? (statement.match(need, context) ?? []) : [],
    );
  const { policy } = principal;
  for (const each of [ofResource, ...(policy === 'everything' ? [] : [policy])])
    if (matches(each, true).length > 0)
      return {
        allowed: false,
        reason: `with an explicit deny in ${each.kind === 'identity-based' ? 'an' : 'a'} ${each.kind} policy`,
      };
  const because = (kind: PolicyKind): Decision => ({
    allowed: false,
    reason: `because no ${kind} policy allows the ${need.action} action`,
  });
  const uses = policy === 'everything' ? [] : matches(policy, false);
  if (policy !== 'everything' && uses.length === 0) return because('identity-based');
  if (need.action.startsWith('kms:') && matches(ofResource, false).length === 0)
    return because('resource-based');
  return { allowed: true, uses };
}

/** Every part of what a policy allows, each as `<action> <resource> <key>=<value>…`. */
export function grantedBy({ statements }: Policy): readonly string[] {
  return statements.flatMap(({ isDeny, parts }) => (isDeny ? [] : parts));
}
