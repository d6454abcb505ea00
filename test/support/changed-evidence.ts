import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { AnalysisPolicy, AnalysisTrigger } from '#shared/contract/reports/analysis-policy.ts';
import type { RunMetric } from '#shared/contract/reports/improvement-run.ts';
import { canonicalJson, sha256Hex } from '#shared/kernel/canonical-json.ts';
import { documentChecksum } from '#shared/records/checksum.ts';
import { localCredentials, localRegion, localTableName } from '#shared/stage/local-stage.ts';
import { createEndpointClients } from '#shared/stores/endpoint-clients.ts';
import { createRecordsTable } from '#shared/stores/records-table.ts';
import { choosePolicy } from './analyses.ts';
import type { TestStack } from './stack.ts';

/** New values of an artifact's members, by their JSON Pointers. */
type Changes = Readonly<Record<string, unknown>>;

/** What an administration's owners publish, changed with the digests by which they name it: soundly pinned, whatever it says. */
export interface ChangedEvidence {
  readonly metric: (administrationId: string, metric: RunMetric, changes: Changes) => Promise<void>;
  readonly comparison: (administrationId: string, sourceKey: string, changes: Changes) => Promise<void>;
  readonly crosswalk: (contentTestSpecId: string, sourceKey: string, changes: Changes) => Promise<void>;
  /**
   * Puts a policy of these triggers into the table of records, as an earlier release of the command did, and lets the tenant choose it.
   * Returns its id.
   */
  readonly policyOf: (...triggers: readonly AnalysisTrigger[]) => Promise<string>;
}

const changedEntity = z.object({ entity: z.object({}).loose() });

export function openChangedEvidence(
  stack: Pick<TestStack, 'control' | 'seededTenants' | 'urls' | 'killWorkers'>,
  tenantId: string,
): ChangedEvidence {
  const { reports } = stack.seededTenants.get(tenantId)!.platform;

  /** Returns the SHA-256 of the bytes that the owner serves from then on. */
  async function change(entity: string, id: string, changes: Changes): Promise<string> {
    const answer = await stack.control('PATCH', 'entities', {
      tenantId,
      entity,
      id,
      changes: Object.entries(changes).map(([pointer, value]) => ({ pointer, value })),
    });
    return sha256Hex(JSON.stringify(changedEntity.parse(answer).entity));
  }

  async function changeArtifact(
    administrationId: string,
    list: 'metrics' | 'comparisons',
    name: string,
    changes: Changes,
  ): Promise<void> {
    const analysis = reports.analyses.find((held) => held.administrationId === administrationId)!;
    const entries: readonly { readonly artifact: { readonly artifactRef: string } | null }[] = analysis[list];
    const at = analysis[list].findIndex((entry) =>
      'metric' in entry ? entry.metric === name : entry.sourceKey === name,
    );
    const sha256 = await change('analytics.artifact', entries[at]!.artifact!.artifactRef, changes);
    const pointer = `/${list}/${at}/artifact/sha256`;
    await change('analytics.administration_analysis', administrationId, { [pointer]: sha256 });
  }

  return {
    metric: (administrationId, metric, changes) =>
      changeArtifact(administrationId, 'metrics', metric, changes),
    comparison: (administrationId, sourceKey, changes) =>
      changeArtifact(administrationId, 'comparisons', sourceKey, changes),
    async crosswalk(contentTestSpecId, sourceKey, changes) {
      const { sources } = reports.alignmentSources.find(
        ({ testSpecId }) => testSpecId === contentTestSpecId,
      )!;
      const at = sources.findIndex((source) => source.sourceKey === sourceKey);
      const sha256 = await change('content.alignment_crosswalk', sources[at]!.crosswalkId, changes);
      await change('content.alignment_sources', contentTestSpecId, { [`/sources/${at}/sha256`]: sha256 });
    },
    async policyOf(...triggers) {
      const document: Omit<AnalysisPolicy, 'checksum'> = {
        id: `policy-${randomUUID()}`,
        version: '1',
        visibility: 'tenant',
        formulaVersion: 'alignment-v1',
        triggers: [...triggers],
      };
      const { dynamo, destroy } = createEndpointClients({
        endpoint: stack.urls.awsUrl,
        region: localRegion,
        credentials: localCredentials,
      });
      const key = { kind: 'analysis-policy', id: document.id, tenantId } as const;
      const text = canonicalJson({ ...document, checksum: documentChecksum(document) });
      await createRecordsTable(dynamo, localTableName('records')).writeOnce(key, { document: text });
      destroy();
      await choosePolicy(stack, tenantId, document.id);
      return document.id;
    },
  };
}
