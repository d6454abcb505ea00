import { describe, expect, it } from 'vitest';
import { decide, grantedBy, readPolicy, type Context, type Principal } from './policy.ts';

const account = '000000000000';
const table = `arn:aws:dynamodb:us-east-1:${account}:table/t`;
const key = `arn:aws:kms:us-east-1:${account}:key/k`;
const root = { AWS: `arn:aws:iam::${account}:root` };

type Json = Readonly<Record<string, unknown>>;
const allow = (more: Json = {}): Json => ({
  Effect: 'Allow',
  Action: 'dynamodb:GetItem',
  Resource: table,
  ...more,
});
const deny = (more: Json = {}): Json => ({ ...allow(), Effect: 'Deny', Principal: { AWS: '*' }, ...more });
const role = (...statements: readonly Json[]): Principal => ({
  arn: `arn:aws:iam::${account}:role/one`,
  account,
  policy: readPolicy('identity-based', statements, account),
});
const everything: Principal = { arn: `arn:aws:iam::${account}:user/local`, account, policy: 'everything' };
const ofResource = (...statements: readonly Json[]) => readPolicy('resource-based', statements, account);
const none = ofResource();
const get = (context: Context = {}, resource = table) => ({ action: 'dynamodb:GetItem', resource, context });
const mayGet = (statement: Json, context?: Context, resource?: string): boolean =>
  decide(role(statement), get(context, resource), none).allowed;

describe('a decision', () => {
  it('needs an Allow, and any Deny comes before it, wherever it is', () => {
    const reasonOf = (principal: Principal, policy = none) => {
      const decision = decide(principal, get(), policy);
      return decision.allowed ? 'allowed' : decision.reason;
    };
    expect(reasonOf(role(allow()))).toBe('allowed');
    expect(reasonOf(role())).toBe('because no identity-based policy allows the dynamodb:GetItem action');
    expect(reasonOf(role(allow(), allow({ Effect: 'Deny' })))).toBe(
      'with an explicit deny in an identity-based policy',
    );
    for (const principal of [role(allow()), everything])
      expect(reasonOf(principal, ofResource(deny()))).toBe(
        'with an explicit deny in a resource-based policy',
      );
    expect(reasonOf(everything)).toBe('allowed');
  });

  it('about a key needs the key’s own policy too, and hears of it that the role decides', () => {
    const use = { action: 'kms:Decrypt', resource: key };
    const may = role(allow({ Action: 'kms:Decrypt', Resource: key }));
    const delegated = ofResource({ Effect: 'Allow', Principal: root, Action: 'kms:*', Resource: '*' });
    expect(decide(may, use, delegated).allowed).toBe(true);
    expect(decide(role(), use, delegated).allowed).toBe(false);
    for (const principal of [may, everything])
      expect(decide(principal, use, none)).toEqual({
        allowed: false,
        reason: 'because no resource-based policy allows the kms:Decrypt action',
      });
  });

  it('compares actions without and resources with their case, and takes * and ? for other characters', () => {
    expect(mayGet(allow({ Action: ['dynamodb:getitem'] }))).toBe(true);
    expect(mayGet(allow({ Action: 'dynamodb:Get*' }))).toBe(true);
    expect(mayGet(allow({ Action: 'dynamodb:Get?tem' }))).toBe(true);
    expect(mayGet(allow({ Action: 'dynamodb:Get' }))).toBe(false);
    expect(mayGet(allow({ Resource: table.toUpperCase() }))).toBe(false);
    expect(mayGet(allow({ Resource: `${table}/*` }))).toBe(false);
    expect(mayGet(allow({ Resource: `${table}*` }), {}, `${table}/index/i`)).toBe(true);
    // A full stop is one.
    expect(mayGet(allow({ Resource: 'a.b' }), {}, 'axb')).toBe(false);
  });

  it.each<readonly [string, string, string | readonly string[], readonly (readonly [Context, boolean])[]]>([
    [
      'StringEquals',
      'kms:EncryptionContext:purpose',
      ['a', 'b*'],
      [
        [{ 'kms:EncryptionContext:purpose': ['a'] }, true],
        [{ 'kms:EncryptionContext:purpose': ['b*'] }, true],
        [{ 'kms:EncryptionContext:purpose': ['A'] }, false],
        [{ 'kms:EncryptionContext:purpose': ['bc'] }, false],
        [{ 'kms:EncryptionContext:other': ['a'] }, false],
        [{}, false],
      ],
    ],
    [
      'StringLike',
      'kms:EncryptionContext:arn',
      'a/*',
      [
        [{ 'kms:EncryptionContext:arn': ['a/b/c'] }, true],
        [{ 'kms:EncryptionContext:arn': ['ab'] }, false],
        [{}, false],
      ],
    ],
    [
      'ForAllValues:StringEquals',
      'dynamodb:LeadingKeys',
      ['a', 'b'],
      [
        [{ 'dynamodb:LeadingKeys': ['a'] }, true],
        [{ 'dynamodb:LeadingKeys': ['a', 'b'] }, true],
        [{ 'dynamodb:LeadingKeys': ['a', 'c'] }, false],
        // What a Scan gets past such a condition with.
        [{}, true],
      ],
    ],
    [
      'ForAllValues:StringLike',
      'dynamodb:LeadingKeys',
      'a#*',
      [
        [{ 'dynamodb:LeadingKeys': ['a#1'] }, true],
        [{ 'dynamodb:LeadingKeys': ['a#1', 'b#1'] }, false],
        [{ 'dynamodb:LeadingKeys': ['a'] }, false],
        [{}, true],
      ],
    ],
    ['Bool', 'aws:SecureTransport', 'false', [[{}, false]]],
    ['Bool', 'aws:SecureTransport', 'true', [[{}, true]]],
    [
      'Null',
      's3:if-match',
      'true',
      [
        [{}, true],
        [{ 's3:if-match': ['"x"'] }, false],
      ],
    ],
    ['ArnNotEquals', 'aws:PrincipalArn', `arn:aws:iam::${account}:role/one`, [[{}, false]]],
    ['ArnNotEquals', 'aws:PrincipalArn', [`arn:aws:iam::${account}:role/two`], [[{}, true]]],
    ['ArnNotEquals', 's3:if-match', 'x', [[{}, true]]],
  ])('%s of %s and %j', (operator, name, values, cases) => {
    const statement = allow({ Condition: { [operator]: { [name]: values } } });
    for (const [context, holds] of cases)
      expect(mayGet(statement, context), JSON.stringify(context)).toBe(holds);
  });

  it('takes every condition of a statement together', () => {
    const statement = allow({
      Condition: {
        Null: { 's3:if-match': 'true', 's3:if-none-match': 'true' },
        Bool: { 'aws:SecureTransport': 'true' },
      },
    });
    expect(mayGet(statement)).toBe(true);
    expect(mayGet(statement, { 's3:if-match': ['x'] })).toBe(false);
    expect(mayGet(statement, { 's3:if-none-match': ['*'] })).toBe(false);
  });
});

it.each<readonly [string, Json]>([
  ['NotAction', { NotAction: 'dynamodb:Scan' }],
  ['NotResource', { NotResource: table }],
  ['the operator StringEqualsIfExists', { Condition: { StringEqualsIfExists: { 'aws:PrincipalArn': 'x' } } }],
  ['the operator toString', { Condition: { toString: { 'aws:PrincipalArn': 'x' } } }],
  [
    'the condition key aws:SourceIp under StringEquals',
    { Condition: { StringEquals: { 'aws:SourceIp': 'x' } } },
  ],
  // Without a set operator, AWS does not say how several values compare.
  [
    'the condition key dynamodb:LeadingKeys under StringEquals',
    { Condition: { StringEquals: { 'dynamodb:LeadingKeys': 'x' } } },
  ],
  ['policy variables', { Resource: `${table}/\${aws:username}` }],
  [
    'the principal arn:aws:iam::111122223333:root under Allow',
    { Principal: { AWS: 'arn:aws:iam::111122223333:root' } },
  ],
  ['Effect', { Effect: 'Maybe' }],
])('the evaluator names what it does not know: %s', (name, more) => {
  expect(() => readPolicy('identity-based', [allow(more)], account)).toThrow(TypeError);
  expect(() => readPolicy('identity-based', [allow(more)], account)).toThrow(name);
});

it('the evaluator takes no policy of a resource that lets someone in without a role', () => {
  for (const Principal of [{ AWS: '*' }, { AWS: `arn:aws:iam::${account}:role/one` }])
    expect(() => ofResource(allow({ Principal }))).toThrow(`the principal ${Principal.AWS} under Allow`);
  expect(() => ofResource(deny({ Principal: root }))).toThrow('under Deny');
});

it('what is used are parts of what is granted', () => {
  const Condition = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['a', 'b'] } };
  const principal = role(
    allow({ Action: ['dynamodb:GetItem', 'dynamodb:Query'], Condition }),
    allow({ Effect: 'Deny' }),
  );
  const granted = principal.policy === 'everything' ? [] : grantedBy(principal.policy);
  expect(granted).toEqual(
    ['GetItem', 'Query'].flatMap((action) =>
      ['a', 'b'].map((value) => `dynamodb:${action} ${table} dynamodb:LeadingKeys=${value}`),
    ),
  );
  const used = decide(role(allow({ Condition })), get({ 'dynamodb:LeadingKeys': ['b'] }), none);
  expect(used).toEqual({ allowed: true, uses: [granted[1]] });
  // No part that was granted: a request that the condition says nothing of.
  expect(decide(role(allow({ Condition })), get(), none)).toEqual({
    allowed: true,
    uses: [`dynamodb:GetItem ${table} dynamodb:LeadingKeys=(absent)`],
  });
});
