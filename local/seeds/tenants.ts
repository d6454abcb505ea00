import { createHmac } from 'node:crypto';
import { deterministicUuid } from '#shared/kernel/deterministic-uuid.ts';
import { sha256Hex } from '#shared/kernel/canonical-json.ts';

interface LocalTenant {
  readonly tenantId: string;
  /** `sub` and `role` of a client token when none are named. */
  readonly sub: string;
  readonly role: string;
  /** Learners that Results knows; the first one is the fixture's. */
  readonly students: readonly string[];
  readonly credentials: { readonly platformJwt: string; readonly playerToken: string };
}

/** The tenants of `npm start`. */
export const localTenantIds = ['tenant-aurora', 'tenant-borealis'] as const;

/** Everything of a local tenant follows from its id, so that no value of one occurs in another. */
export function localTenant(tenantId: string): LocalTenant {
  return {
    tenantId,
    sub: `${tenantId}-client`,
    role: 'assessment_client',
    students: [1, 2, 3].map((number) => deterministicUuid('student', tenantId, String(number))),
    credentials: {
      platformJwt: platformToken(tenantId, 'service'),
      playerToken: platformToken(tenantId, 'player'),
    },
  };
}

/** Returns a token in the form of a JWT. It opens nothing but the platform emulator, which compares it as a whole. */
function platformToken(tenantId: string, subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'platform-double', sub: subject, tenantId })}`;
  const key = sha256Hex(`platform double ${tenantId}`);
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}
