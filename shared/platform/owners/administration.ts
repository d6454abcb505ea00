import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { reportRead } from '#shared/platform/operation.ts';
import { governed, ownerId, versioned } from './primitives.ts';

/** Administration: one sitting of a test, and its class or school. */
export const administration = z.object({
  tenantId: ownerId,
  administrationId: reference,
  ...versioned,
  /** `scored` once every attempt is. No other status is distinguished. */
  status: z.string(),
  ...governed,
  classSourcedId: reference.nullable(),
  schoolSourcedId: reference.nullable(),
});
export type Administration = z.infer<typeof administration>;

export const readAdministration = reportRead({
  id: 'administration.read_administration',
  path: '/core/administration/v1/administrations/{administrationId}',
  answer: administration,
  rule: 'The class or school that an administration was for.',
});
