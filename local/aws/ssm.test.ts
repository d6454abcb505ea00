import { createHash } from 'node:crypto';
import {
  DeleteParameterCommand,
  DescribeParametersCommand,
  GetParameterCommand,
  GetParametersByPathCommand,
  GetParametersCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
} from '@aws-sdk/client-ssm';
import type { GetParametersByPathCommandInput } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAws } from '#test/support/aws.ts';
import { startTestAws } from '#test/support/aws.ts';

let test: TestAws;
beforeAll(async () => {
  test = await startTestAws();
});
afterAll(() => test.close());

const put = (Name: string, Value: string, Type?: 'String' | 'SecureString', Overwrite?: boolean) =>
  test.ssm.send(new PutParameterCommand({ Name, Value, Type, Overwrite }));

describe('the Systems Manager emulator, through the SDK client', () => {
  it('keeps a parameter and its version, and overwrites only when told to', async () => {
    expect((await put('/one/flag', 'a', 'String')).Version).toBe(1);
    await expect(put('/one/flag', 'b', 'String')).rejects.toBeInstanceOf(ParameterAlreadyExists);
    expect((await put('/one/flag', 'b', undefined, true)).Version).toBe(2);
    const { Parameter } = await test.ssm.send(new GetParameterCommand({ Name: '/one/flag' }));
    expect(Parameter).toMatchObject({ Name: '/one/flag', Type: 'String', Value: 'b', Version: 2 });
    await test.ssm.send(new DeleteParameterCommand({ Name: '/one/flag' }));
    await expect(test.ssm.send(new GetParameterCommand({ Name: '/one/flag' }))).rejects.toBeInstanceOf(
      ParameterNotFound,
    );
    await expect(test.ssm.send(new DeleteParameterCommand({ Name: '/one/flag' }))).rejects.toBeInstanceOf(
      ParameterNotFound,
    );
  });

  it('shows a SecureString only with decryption', async () => {
    await put('/secret/token', 'very secret', 'SecureString');
    const read = async (WithDecryption: boolean) =>
      (await test.ssm.send(new GetParameterCommand({ Name: '/secret/token', WithDecryption }))).Parameter
        ?.Value;
    expect(await read(true)).toBe('very secret');
    const sealed = await read(false);
    expect(sealed).not.toContain('secret');
    expect(Buffer.from(sealed!, 'base64').includes('very secret')).toBe(false);
  });

  it('reads several by name and names the missing ones', async () => {
    await put('/many/a', '1', 'String');
    await put('/many/b', '2', 'SecureString');
    const found = await test.ssm.send(
      new GetParametersCommand({ Names: ['/many/b', '/many/none', '/many/a'], WithDecryption: true }),
    );
    expect(found.Parameters?.map(({ Name, Value }) => [Name, Value])).toEqual([
      ['/many/b', '2'],
      ['/many/a', '1'],
    ]);
    expect(found.InvalidParameters).toEqual(['/many/none']);
  });

  it('lists a path page by page, one level deep or all', async () => {
    const names = Array.from({ length: 23 }, (_, n) => `/path/p${String(n).padStart(2, '0')}`);
    for (const name of names)
      await put(name, createHash('sha256').update(name).digest('hex'), 'SecureString');
    await put('/path/deep/er', 'x', 'String');
    await put('/pathology/p00', 'x', 'String');
    const list = async (input: Partial<GetParametersByPathCommandInput>) => {
      const pages: string[][] = [];
      let NextToken: string | undefined;
      do {
        const page = await test.ssm.send(
          new GetParametersByPathCommand({ Path: '/path', ...input, NextToken }),
        );
        pages.push((page.Parameters ?? []).map((parameter) => parameter.Name!));
        NextToken = page.NextToken;
      } while (NextToken !== undefined);
      return pages;
    };
    const pages = await list({ WithDecryption: true });
    expect(pages.map((page) => page.length)).toEqual([10, 10, 3]);
    expect(pages.flat()).toEqual(names);
    expect((await list({ Path: '/path/', Recursive: true, MaxResults: 4 })).flat()).toEqual([
      '/path/deep/er',
      ...names,
    ]);
    expect(await list({ Path: '/nothing' })).toEqual([[]]);
  });

  it('refuses what the service refuses', async () => {
    await expect(put('/one/untyped', 'a')).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(put('/one/large', 'x'.repeat(4097), 'String')).rejects.toMatchObject({
      name: 'ValidationException',
    });
    await expect(put('/aws/mine', 'a', 'String')).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(put('/one/a b', 'a', 'String')).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(
      test.ssm.send(new GetParametersByPathCommand({ Path: '/one', MaxResults: 11 })),
    ).rejects.toMatchObject({ name: 'ValidationException' });
    await expect(
      test.ssm.send(
        new PutParameterCommand({ Name: '/k', Value: 'v', Type: 'SecureString', KeyId: 'alias/no' }),
      ),
    ).rejects.toMatchObject({ name: 'InvalidKeyId' });
    await expect(test.ssm.send(new DescribeParametersCommand({}))).rejects.toMatchObject({
      name: 'UnknownOperationException',
    });
  });
});
