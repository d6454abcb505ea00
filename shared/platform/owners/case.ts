import * as z from 'zod';
import { ownerId } from './primitives.ts';

/** CASE 1.1 CFItem: the members that the service reads; the standard's optional ones are tolerated and ignored. */
export const cfItem = z.looseObject({
  identifier: ownerId,
  uri: z.url(),
  fullStatement: z.string(),
  lastChangeDateTime: z.string(),
  CFDocumentURI: z.looseObject({ title: z.string(), identifier: ownerId, uri: z.url() }),
});
export type CfItem = z.infer<typeof cfItem>;
