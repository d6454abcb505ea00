import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { LARGE, reportRead, runRead } from '#shared/platform/operation.ts';
import { instant, ownerId } from './primitives.ts';

/** CASE 1.1 CFItem: the members that the service reads; the standard's optional ones are tolerated and ignored. */
export const cfItem = z.looseObject({
  identifier: ownerId,
  uri: z.url(),
  fullStatement: z.string(),
  lastChangeDateTime: z.string(),
  CFDocumentURI: z.looseObject({ title: z.string(), identifier: ownerId, uri: z.url() }),
});
export type CfItem = z.infer<typeof cfItem>;

const nodeLink = z.object({ identifier: ownerId });

/** CASE 1.1 CFPackage: the identifiers of its items, and which is a child of which. */
export const cfPackage = z.object({
  CFDocument: z.object({ identifier: reference, lastChangeDateTime: instant }),
  CFItems: z.array(z.object({ identifier: reference })),
  CFAssociations: z.array(
    z.object({ associationType: z.string(), originNodeURI: nodeLink, destinationNodeURI: nodeLink }),
  ),
});
export type CfPackage = z.infer<typeof cfPackage>;

export const resolveMapping = runRead({
  id: 'case.resolve_mapping',
  path: '/ims/case/v1p1/CFItems/{sourcedId}',
  status: 'bound',
  answer: cfItem,
  echo: { identifier: 'sourcedId' },
  tenantInAnswer: false,
  rule: 'Identifier and URI are those of the pinned mapping.',
});

export const readPackage = reportRead({
  id: 'case.read_package',
  path: '/ims/case/v1p1/CFPackages/{sourcedId}',
  status: 'bound',
  answer: cfPackage,
  echo: { 'CFDocument.identifier': 'sourcedId' },
  tenantInAnswer: false,
  maxAnswerBytes: LARGE,
  rule: 'Every CASE GUID of a report, and every parent, stands in the package of the spec’s framework; a package older than the spec knows is stale. Revalidated by its ETag.',
});
