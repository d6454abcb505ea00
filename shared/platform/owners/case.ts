import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { LARGE, safeRead } from '#shared/platform/operation.ts';
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

/** CASE 1.1 CFPackage: of its items the identifiers, of its associations who is a child of whom. */
export const cfPackage = z.object({
  CFDocument: z.object({ identifier: reference, lastChangeDateTime: instant }),
  CFItems: z.array(z.object({ identifier: reference })),
  CFAssociations: z.array(
    z.object({ associationType: z.string(), originNodeURI: nodeLink, destinationNodeURI: nodeLink }),
  ),
});
export type CfPackage = z.infer<typeof cfPackage>;

export const resolveMapping = safeRead({
  id: 'case.resolve_mapping',
  path: '/ims/case/v1p1/CFItems/{sourcedId}',
  status: 'bound',
  answer: cfItem,
  uses: ['start', 'run'],
  echo: { identifier: 'sourcedId' },
  tenantInAnswer: false,
  rule: 'Identifier and URI are those of the pinned mapping.',
});

export const readPackage = safeRead({
  id: 'case.read_package',
  path: '/ims/case/v1p1/CFPackages/{sourcedId}',
  status: 'bound',
  answer: cfPackage,
  uses: ['report'],
  echo: { 'CFDocument.identifier': 'sourcedId' },
  tenantInAnswer: false,
  maxAnswerBytes: LARGE,
  rule: 'Every CASE GUID of a report, and every parent, stands in the package of the spec’s framework; a package older than the spec knows is stale. Revalidated by its ETag.',
});
