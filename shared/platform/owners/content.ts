import * as z from 'zod';
import { ownerId } from './primitives.ts';

/**
 * Content: the blueprint projection of a test spec. Loose, because the *complete* projection is hashed [MA-022]: what Content adds
 * tomorrow must change the hash, not vanish from it.
 */
export const blueprint = z.looseObject({
  tenantId: ownerId,
  itemId: ownerId,
  role: z.string(),
  version: ownerId,
  subject: z.string().min(1),
  gradeLevels: z.array(z.string().min(1)).min(1),
  caseFrameworkGuid: ownerId,
  slots: z.array(z.looseObject({ slotId: ownerId, caseGuids: z.array(ownerId).min(1) })),
});
export type Blueprint = z.infer<typeof blueprint>;

/** Content: the identity of an adaptive bank. `data` are Content members, of which an adaptive bank has none [MA-023]. */
export const bankMembers = z.looseObject({
  tenantId: ownerId,
  bankId: ownerId,
  specId: ownerId,
  role: z.string(),
  membershipRule: z.string(),
  updateVersion: ownerId,
  data: z.array(z.unknown()),
});
export type BankMembers = z.infer<typeof bankMembers>;
