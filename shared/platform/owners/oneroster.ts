import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { reportRead } from '#shared/platform/operation.ts';

/** OneRoster 1.2 base: `tobedeleted` means absent. */
const base = z.object({ sourcedId: reference, status: z.enum(['active', 'tobedeleted']) });

/** OneRoster: one user, of which only the identity is read. */
export const userSingleton = z.object({ user: base });
export type UserSingleton = z.infer<typeof userSingleton>;

/** OneRoster: one class. */
export const classSingleton = z.object({ class: base });
export type ClassSingleton = z.infer<typeof classSingleton>;

/** OneRoster: one school, which is an org. */
export const schoolSingleton = z.object({ org: base });
export type SchoolSingleton = z.infer<typeof schoolSingleton>;

export const readUser = reportRead({
  id: 'oneroster.read_user',
  path: '/ims/oneroster/rostering/v1p2/users/{sourcedId}',
  status: 'bound',
  answer: userSingleton,
  echo: { 'user.sourcedId': 'sourcedId' },
  tenantInAnswer: false,
  rule: 'The candidate is on the roster; `tobedeleted` is absent.',
});

export const readClass = reportRead({
  id: 'oneroster.read_class',
  path: '/ims/oneroster/rostering/v1p2/classes/{sourcedId}',
  status: 'bound',
  answer: classSingleton,
  echo: { 'class.sourcedId': 'sourcedId' },
  tenantInAnswer: false,
  rule: 'The class is on the roster; `tobedeleted` is absent.',
});

export const readSchool = reportRead({
  id: 'oneroster.read_school',
  path: '/ims/oneroster/rostering/v1p2/schools/{sourcedId}',
  status: 'bound',
  answer: schoolSingleton,
  echo: { 'org.sourcedId': 'sourcedId' },
  tenantInAnswer: false,
  rule: 'The school is on the roster; `tobedeleted` is absent.',
});
