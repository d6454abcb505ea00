import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { safeRead } from '#shared/platform/operation.ts';
import { governed, ownerId, versioned } from './primitives.ts';

/** Administration: one sitting of a test, and the class or school that it was for. */
export const administration = z.object({
  tenantId: ownerId,
  administrationId: reference,
  ...versioned,
  /** `scored` once every attempt of it is; other statuses are the owner's own affair. */
  status: z.string(),
  ...governed,
  classSourcedId: reference.nullable(),
  schoolSourcedId: reference.nullable(),
});
export type Administration = z.infer<typeof administration>;

export const readAdministration = safeRead({
  id: 'administration.read_administration',
  path: '/core/administration/v1/administrations/{administrationId}',
  status: 'gap',
  answer: administration,
  uses: ['report'],
  echo: { administrationId: 'administrationId' },
  rule: 'The class or school that an administration was for.',
});
