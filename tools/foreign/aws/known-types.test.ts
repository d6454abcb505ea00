import { describe, expect, it } from 'vitest';
import { withKnownTypes } from './known-types.ts';

const aliased = { Ref: 'Function' };
const template = {
  Resources: {
    Function: { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
    Role: { Type: 'AWS::IAM::Role' },
    Live: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: aliased, Name: 'live' } },
    Acl: { Type: 'AWS::WAFv2::WebACL', DependsOn: 'Role' },
    Invoke: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        FunctionName: { Ref: 'Live' },
        SourceArn: { 'Fn::Join': ['/', [{ 'Fn::GetAtt': ['Acl', 'Arn'] }, { Ref: 'Acl' }]] },
      },
    },
  },
  Outputs: {
    Role: { Value: { Ref: 'Role' } },
    Acl: { Value: { Ref: 'Acl' } },
    Table: { Value: { 'Fn::GetStackOutput': { StackName: 'stores', OutputName: 'Table' } } },
  },
};
const known = new Set(['AWS::Lambda::Function', 'AWS::IAM::Role', 'AWS::Lambda::Permission']);

describe('a template for a CloudFormation that does not know every type', () => {
  it('keeps what it knows, and names what it does not', () => {
    expect(withKnownTypes(template, new Set([...known, 'AWS::Lambda::Alias', 'AWS::WAFv2::WebACL']))).toEqual(
      {
        template: { ...template, Outputs: { ...template.Outputs, Table: { Value: 'stores.Table' } } },
        replaced: [],
      },
    );
    expect(withKnownTypes(template, known).replaced).toEqual(['AWS::Lambda::Alias', 'AWS::WAFv2::WebACL']);
  });

  it('has a generic resource in place of the others, and refers to nothing that it does not create', () => {
    const { Resources, Outputs } = withKnownTypes(template, known).template;
    const generic = { Type: 'AWS::CloudFormation::WaitConditionHandle' };
    expect(Resources).toEqual({
      Function: template.Resources.Function,
      Role: template.Resources.Role,
      Live: generic,
      Acl: generic,
      Invoke: {
        Type: 'AWS::Lambda::Permission',
        Properties: {
          FunctionName: { 'Fn::GetAtt': ['Function', 'Arn'] },
          SourceArn: { 'Fn::Join': ['/', ['arn:aws:s3:::Acl.Arn', 'Acl']] },
        },
      },
    });
    expect(Outputs).toEqual({
      Role: template.Outputs.Role,
      Acl: { Value: 'Acl' },
      Table: { Value: 'stores.Table' },
    });
  });
});
