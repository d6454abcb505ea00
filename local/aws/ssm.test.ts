import {
  DeleteParameterCommand,
  GetParameterCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  PutParameterCommand,
} from '@aws-sdk/client-ssm';
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
});
