import type { Framework, Observed } from '#functions/reports/facts/facts.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { createRecent, type Recent } from '#shared/kernel/recent.ts';
import * as operations from '#shared/platform/operations.ts';
import type { CfPackage } from '#shared/platform/owners/case.ts';
import type { ServiceProfile } from '#shared/platform/service-profiles.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { sourceProblem } from './problems.ts';
import type { SourceReader } from './reader.ts';

/** The frameworks of the CASE packages that a container has read. They contain no learner fact. */
export interface Frameworks {
  /** Returns those of one platform, as one tenant sees it. */
  readonly of: (profile: Pick<ServiceProfile, 'tenantId' | 'baseUrl'>) => TenantFrameworks;
}

/** The kept frameworks of one tenant, by the ids of their documents. */
export type TenantFrameworks = Recent<KeptFramework>;

interface KeptFramework {
  readonly etag: string;
  readonly framework: Framework;
}

/** The most frameworks that a container keeps, and that one request reads. That of the largest package, 16 MB, takes some 20 MB. */
export const MAX_FRAMEWORKS = 8;

/** Creates an empty cache that keeps the frameworks used last. */
export function createFrameworks(): Frameworks {
  const kept = createRecent<KeptFramework>(MAX_FRAMEWORKS);
  return {
    of({ tenantId, baseUrl }) {
      const keyOf = (documentId: string): string => JSON.stringify([baseUrl, tenantId, documentId]);
      return {
        get: (documentId) => kept.get(keyOf(documentId)),
        set: (documentId, framework) => kept.set(keyOf(documentId), framework),
      };
    },
  };
}

/**
 * Reads the CASE framework of a report. A cached one counts only after CASE has confirmed, for this very request, that it still has that version, so that
 * every GUID of a report dereferences live [RP-089].
 */
export async function readFramework(
  reader: SourceReader,
  frameworks: TenantFrameworks,
  documentId: string,
): Promise<Result<Observed<Framework>, Problem>> {
  const operation = operations.readPackage;
  const call = { path: { sourcedId: documentId } };
  const about = { resourceId: documentId };
  const known = frameworks.get(documentId);
  const answer =
    known === undefined
      ? await reader.read(operation, call, () => about)
      : await reader.revalidate(operation, call, about, known.etag);
  if (!answer.ok) return err(sourceProblem(answer.error, 'derived'));
  if (!('etag' in answer.value)) {
    if (known === undefined) throw new Error('CASE was not asked whether anything is unchanged');
    return ok({ value: known.framework, receipt: answer.value.receipt });
  }
  const { value, receipt, etag } = answer.value;
  const framework = frameworkOf(value);
  if (etag !== undefined) frameworks.set(documentId, { etag, framework });
  return ok({ value: framework, receipt });
}

/** Reads as `readFramework` does, for a response that does not require it: a framework that CASE does not have is empty, with an `unavailable` receipt. */
export async function readFrameworkIfHeld(
  reader: SourceReader,
  frameworks: TenantFrameworks,
  documentId: string,
): Promise<Result<Observed<Framework>, Problem>> {
  const framework = await readFramework(reader, frameworks, documentId);
  if (framework.ok || framework.error.code !== 'dependency-incomplete') return framework;
  return ok({
    value: { changedAt: '1970-01-01T00:00:00Z', guids: new Set(), parents: new Map() },
    receipt: reader.unavailable(operations.readPackage, documentId),
  });
}

/** Returns the framework of a package: a child's parents are the destinations of its `isChildOf` associations, a child of the document is a root (CASE 1.1). */
function frameworkOf({ CFDocument, CFItems, CFAssociations }: CfPackage): Framework {
  const links = CFAssociations.filter(
    ({ associationType, destinationNodeURI }) =>
      associationType === 'isChildOf' && destinationNodeURI.identifier !== CFDocument.identifier,
  );
  const byChild = Map.groupBy(links, ({ originNodeURI }) => originNodeURI.identifier);
  return {
    changedAt: CFDocument.lastChangeDateTime,
    guids: new Set(CFItems.map(({ identifier }) => identifier)),
    parents: new Map(
      Array.from(byChild, ([child, above]) => [
        child,
        above.map((link) => link.destinationNodeURI.identifier),
      ]),
    ),
  };
}
