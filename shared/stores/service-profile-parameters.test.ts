import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import { useTestAws } from '#test/support/aws.ts';
import { createServiceProfileParameters } from './service-profile-parameters.ts';

const test = useTestAws();

const profile = { tenant: 'aurora', jwt: 'header.payload.signature', url: 'https://platform.example' };

describe('service profiles in the parameter store', () => {
  it('are read back as written, and replaced by a later writing', async () => {
    const profiles = createServiceProfileParameters(test.ssm, '/rewritten/profiles/');
    await profiles.write('tenant-aurora', profile);
    expect(await profiles.read('tenant-aurora')).toEqual(profile);
    await profiles.write('tenant-aurora', { ...profile, jwt: 'renewed' });
    expect(await profiles.read('tenant-aurora')).toEqual({ ...profile, jwt: 'renewed' });
    const facts = { analysisPolicyId: 'revision-thresholds-3', resultsKcComponents: 'supported' };
    await profiles.write('tenant-aurora', { ...profile, ...facts });
    expect(await profiles.read('tenant-aurora')).toEqual({ ...profile, ...facts });
  });

  it('belong to one tenant only: no id reaches into the path of another [MA-010]', async () => {
    const profiles = createServiceProfileParameters(test.ssm, '/separate/profiles');
    await profiles.write('tenant', profile);
    for (const other of ['', '.', '../tenant', 'tenant/', 'Tenant', 'tenan', 'dGVuYW50']) {
      expect(await profiles.read(other), other).toBeUndefined();
    }
    const awkward = 'a/b c:ü'.repeat(20);
    await profiles.write(awkward, { ...profile, tenant: 'awkward' });
    expect(await profiles.read(awkward)).toEqual({ ...profile, tenant: 'awkward' });
    await expect(profiles.write('', profile)).rejects.toThrow(TypeError);
  });

  it('keep the credential encrypted', async () => {
    await createServiceProfileParameters(test.ssm, '/encrypted').write('t', profile);
    const { Parameter } = await test.ssm.send(
      new GetParameterCommand({ Name: '/encrypted/dA/PLATFORM_JWT' }),
    );
    expect(Parameter).toMatchObject({ Type: 'SecureString' });
    expect(Parameter?.Value).not.toContain('payload');
  });

  it('are absent until they are complete', async () => {
    const profiles = createServiceProfileParameters(test.ssm, '/partial');
    // The credential, written last, is larger than a parameter may be.
    await expect(profiles.write('t', { ...profile, jwt: 'x'.repeat(5000) })).rejects.toThrow();
    await test.ssm.send(new GetParameterCommand({ Name: '/partial/dA/PLATFORM_URL' }));
    expect(await profiles.read('t')).toBeUndefined();
    await profiles.write('t', profile);
    expect(await profiles.read('t')).toEqual(profile);
  });

  it('throw when the store does not answer', async () => {
    test.aws.faults.unavailable('ssm', 1);
    await expect(createServiceProfileParameters(test.ssm, '/down').read('t')).rejects.toThrow();
  });
});
