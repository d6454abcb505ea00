import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import { useTestAws } from '#test/support/aws.ts';
import { createServiceProfileParameters } from './service-profile-parameters.ts';

const test = useTestAws();

const profile = {
  PLATFORM_TENANT: 'aurora',
  PLATFORM_JWT: 'header.payload.signature',
  PLATFORM_URL: 'https://platform.example',
};

const nothing = { parameters: {}, source: '' };

// What is written where is frozen (test/frozen); a store that does not answer is in test/contract/faults/aws.test.ts.

describe('service profiles in the parameter store', () => {
  it('belong to one tenant only: no id reaches into the path of another [MA-010]', async () => {
    const profiles = createServiceProfileParameters(test.ssm, '/separate/profiles');
    await profiles.write('tenant', profile);
    for (const other of ['', '.', '../tenant', 'tenant/', 'Tenant', 'tenan', 'dGVuYW50']) {
      expect(await profiles.read(other), other).toEqual(nothing);
    }
    const awkward = 'a/b c:ü'.repeat(20);
    await profiles.write(awkward, { ...profile, PLATFORM_TENANT: 'awkward' });
    const { parameters } = await profiles.read(awkward);
    expect(parameters).toEqual({ ...profile, PLATFORM_TENANT: 'awkward' });
    await expect(profiles.write('', profile)).rejects.toThrow(TypeError);
  });

  it('have their credential once they are complete, and written over by a later writing', async () => {
    const profiles = createServiceProfileParameters(test.ssm, '/partial/');
    // The credential, written last, is larger than a parameter may be.
    await expect(profiles.write('t', { ...profile, PLATFORM_JWT: 'x'.repeat(5000) })).rejects.toThrow();
    await test.ssm.send(new GetParameterCommand({ Name: '/partial/dA/PLATFORM_URL' }));
    expect(await profiles.read('t')).toEqual({
      parameters: { ...profile, PLATFORM_JWT: undefined },
      source: '',
    });
    await profiles.write('t', profile);
    const first = await profiles.read('t');
    expect(first.parameters).toEqual(profile);
    await profiles.write('t', profile);
    const { source } = await profiles.read('t');
    expect([source === '', source === first.source]).toEqual([false, false]);
    expect((await profiles.list()).get('dA')).toMatchObject({
      source,
      parameters: { PLATFORM_TENANT: 'aurora' },
    });
    expect(JSON.stringify([...(await profiles.list())])).not.toContain(profile.PLATFORM_JWT);
    await profiles.remove('t');
    await profiles.remove('t');
    expect(await profiles.read('t')).toEqual(nothing);
  });
});
