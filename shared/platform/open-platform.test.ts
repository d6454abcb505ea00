import { expect, it } from 'vitest';
import { err } from '#shared/kernel/result.ts';
import type { UpstreamFault } from './fault.ts';
import { openPlatform } from './open-platform.ts';
import * as operations from './operations.ts';
import type { Platform } from './platform.ts';
import { createServiceProfiles, type ServiceProfiles } from './service-profiles.ts';

const refusal: UpstreamFault = {
  kind: 'unauthorized',
  service: 'content',
  operation: 'content.read_test_spec',
  status: 401,
  transient: false,
};

/** A container whose owners refuse the credential: whether each of three calls side by side may succeed on repetition. */
function container(): {
  readonly profiles: ServiceProfiles;
  readonly refusedAt: (receivedAt: number) => Promise<readonly boolean[]>;
} {
  let time = 0;
  const profiles = createServiceProfiles({
    reader: {
      read: (tenant) =>
        Promise.resolve({
          parameters: { PLATFORM_TENANT: tenant, PLATFORM_URL: 'https://platform.example' },
          wrappedCredential: new Uint8Array(1),
        }),
      open: () => Promise.resolve('jwt'),
    },
    approvedHosts: ['platform.example'],
    stage: 'test',
    now: () => time,
    random: (bytes) => new Uint8Array(bytes),
  });
  const platform: Platform = {
    call: () => Promise.resolve(err(refusal)),
    revalidate: () => Promise.resolve(err(refusal)),
    pause: () => Promise.resolve(),
    trace: () => [],
  };
  return {
    profiles,
    async refusedAt(receivedAt) {
      time = receivedAt;
      const opened = await openPlatform(
        { profiles, connect: () => platform },
        { principal: { tenantId: 'tenant-a' }, receivedAt, deadline: receivedAt, log: () => undefined },
      );
      if (!opened.ok) throw new Error(opened.error);
      const wrapped = opened.value.platform;
      const { readTestSpec, verifyAnchor } = operations;
      const answers = await Promise.all([
        wrapped.call(readTestSpec, {}),
        wrapped.call(verifyAnchor, {}),
        wrapped.revalidate(readTestSpec, {}, '"v1"'),
      ]);
      return answers.map((answer) => !answer.ok && answer.error.transient);
    },
  };
}

/** Of every call of two requests at once. */
const all = (mayPass: boolean) => [Array(3).fill(mayPass), Array(3).fill(mayPass)];

it('a credential that was read for this very request and is refused stays refused [MA-218]', async () => {
  const { refusedAt } = container();
  expect(await Promise.all([refusedAt(1_000), refusedAt(1_000)])).toEqual(all(false));
});

it('a credential from before may have been replaced: every call that was refused says so, once [MA-218]', async () => {
  const { profiles, refusedAt } = container();
  await profiles.resolve('tenant-a');
  expect(await Promise.all([refusedAt(2_000), refusedAt(2_000)])).toEqual(all(true));
  expect(await refusedAt(3_000)).toEqual([false, false, false]);
});
