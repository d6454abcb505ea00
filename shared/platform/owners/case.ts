import * as z from 'zod';
import { reference } from '#shared/contract/reports/primitives.ts';
import { LARGE, reportRead, runRead } from '#shared/platform/operation.ts';
import { instant, ownerId } from './primitives.ts';

/** CASE 1.1 CFItem: the members that the service reads. It accepts and ignores the standard's optional ones. */
export const cfItem = z.looseObject({
  identifier: ownerId,
  uri: z.url(),
  fullStatement: z.string(),
  lastChangeDateTime: z.string(),
  CFDocumentURI: z.looseObject({ title: z.string(), identifier: ownerId, uri: z.url() }),
});
export type CfItem = z.infer<typeof cfItem>;

const nodeLink = z.object({ identifier: ownerId });

/** CASE 1.1 CFPackage: the identifiers of its items, and their associations, of which the service uses `isChildOf`. */
export const cfPackage = z.object({
  CFDocument: z.object({ identifier: reference, lastChangeDateTime: instant }),
  CFItems: z.array(z.object({ identifier: reference })),
  CFAssociations: z.array(
    z.object({ associationType: z.string(), originNodeURI: nodeLink, destinationNodeURI: nodeLink }),
  ),
});
export type CfPackage = z.infer<typeof cfPackage>;

export const readCfItem = runRead({
  id: 'case.resolve_mapping',
  path: '/ims/case/v1p1/CFItems/{sourcedId}',
  status: 'bound',
  answer: cfItem,
  echo: { identifier: 'sourcedId' },
  tenantInAnswer: false,
  rule: 'The identifier and URI are those of the pinned mapping, and the item is in the calibration’s framework.',
});

export const readPackage = reportRead({
  id: 'case.read_package',
  path: '/ims/case/v1p1/CFPackages/{sourcedId}',
  status: 'bound',
  answer: cfPackage,
  echo: { 'CFDocument.identifier': 'sourcedId' },
  tenantInAnswer: false,
  maxAnswerBytes: LARGE,
  rule: 'The package of the test spec’s framework contains every CASE GUID of a report and every parent. A package older than the one that the test spec was built on is stale. Revalidated by its ETag.',
});
