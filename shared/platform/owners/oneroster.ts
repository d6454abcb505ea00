import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';

/** OneRoster 1.2 base: `tobedeleted` means absent. */
const base = z.object({ sourcedId: reference, status: z.enum(['active', 'tobedeleted']) });

/** OneRoster: one user; what it says beside its identity is not read. */
export const userSingleton = z.object({ user: base });
export type UserSingleton = z.infer<typeof userSingleton>;

/** OneRoster: one class. */
export const classSingleton = z.object({ class: base });
export type ClassSingleton = z.infer<typeof classSingleton>;

/** OneRoster: one school, which is an org. */
export const schoolSingleton = z.object({ org: base });
export type SchoolSingleton = z.infer<typeof schoolSingleton>;
