import type { AlignmentReport } from '#shared/contract/reports/alignment-report.ts';
import type { ImprovementRun } from '#shared/contract/reports/improvement-run.ts';
import type { RevisionOrder } from '#shared/contract/reports/revision-order.ts';
import {
  analyzeAdministration,
  listRevisionOrders,
  readAlignmentReport,
  readImprovementRun,
} from '#shared/contract/reports/routes.ts';
import { ok } from '#shared/kernel/result.ts';
import type { Result } from '#shared/kernel/result.ts';
import { createCalls } from './calls.ts';
import type { CallFailure, CallOptions } from './calls.ts';

/** What the journey of an improvement run asks of the reports service, for one administration. */
export interface ImprovementClient {
  /** Begins a run of its own. */
  readonly analyze: () => Promise<Result<ImprovementRun, CallFailure>>;
  readonly readRun: (improvementRunId: string) => Promise<Result<ImprovementRun, CallFailure>>;
  readonly readAlignment: (
    improvementRunId: string,
    sourceKey: string,
  ) => Promise<Result<AlignmentReport, CallFailure>>;
  /** All orders of a run, page after page. */
  readonly listOrders: (improvementRunId: string) => Promise<Result<readonly RevisionOrder[], CallFailure>>;
}

const PAGE_ROWS = 100;

export function createImprovementClient(administrationId: string, options: CallOptions): ImprovementClient {
  const ask = createCalls(options);
  const administrationIds = [administrationId];
  return {
    analyze: () =>
      ask({
        route: analyzeAdministration,
        path: { administrationId },
        administrationIds,
        idempotencyKey: options.newKey(),
      }),
    readRun: (improvementRunId) =>
      ask({ route: readImprovementRun, path: { improvementRunId }, administrationIds }),
    readAlignment: (improvementRunId, sourceKey) =>
      ask({ route: readAlignmentReport, path: { improvementRunId, sourceKey }, administrationIds }),
    async listOrders(improvementRunId) {
      const orders: RevisionOrder[] = [];
      let cursor: string | null = null;
      do {
        const page: Result<
          { readonly data: readonly RevisionOrder[]; readonly nextCursor: string | null },
          CallFailure
        > = await ask({
          route: listRevisionOrders,
          path: { improvementRunId },
          query: { limit: String(PAGE_ROWS), ...(cursor === null ? {} : { cursor }) },
          administrationIds,
        });
        if (!page.ok) return page;
        orders.push(...page.value.data);
        cursor = page.value.nextCursor;
      } while (cursor !== null);
      return ok(orders);
    },
  };
}
