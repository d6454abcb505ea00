import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultProvider } from './lambda-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

describe('defaultProvider', () => {
  it('reads the credentials that Lambda puts into the environment', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token');
    expect(await defaultProvider()()).toStrictEqual({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    });
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    expect(await defaultProvider()()).toStrictEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
  });

  it('names the variables, and no value, when they are not there', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'visible-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    await expect(defaultProvider()()).rejects.toThrow(
      /^AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set$/,
    );
  });
});
