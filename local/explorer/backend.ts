import * as z from 'zod';
import type { HttpAnswer } from '#local/gateway/http-answer.ts';
import { invariantsOf } from '#local/platform/contradictions.ts';
import { faultKinds, faultyOperations } from '#local/platform/faults.ts';
import { itemId } from '#local/platform/form-items.ts';
import type { SeededTenant } from '#local/seeds/instantiate.ts';
import { reportIds } from '#local/seeds/ids.ts';
import type { Seed } from '#local/seeds/seed.ts';
import { compileModel, estimate, type CompiledModel } from '#functions/mastery/engine/index.ts';
import { resultRecordRequest } from '#shared/platform/owners/results.ts';
import type { TokenClaims } from '#shared/stage/local-issuer.ts';
import { attemptRequest } from '../attempt-request.ts';
import { testOf } from '../call/example-request.ts';
import { bankOf as findBank, type JourneyBank } from '../journey/bank.ts';
import { evaluateDifference } from './fractions.ts';

/** A request below `/explorer/api/`. */
export interface ExplorerRequest {
  readonly method: string;
  /** The path below `/explorer/api/`. */
  readonly path: string;
  readonly body: string;
}

export interface ExplorerOptions {
  readonly seed: Seed;
  readonly tenants: ReadonlyMap<string, SeededTenant>;
  /** The operations that are served: a view whose operation is absent is not offered. */
  readonly operationIds: readonly string[];
  readonly sandbox: object;
  readonly platformUrl: string;
  readonly tokenFor: (
    tenantId: string,
    scopes: readonly string[],
    claims: Pick<TokenClaims, 'studentIds' | 'classSourcedIds' | 'schoolSourcedIds' | 'administrationIds'>,
  ) => Promise<string>;
  /** The credential of the platform's own player, by tenant. */
  readonly playerToken: (tenantId: string) => string;
  readonly fetch: typeof globalThis.fetch;
}

const ids = z.array(z.string().min(1)).max(1000).optional();
const tokenRequest = z.strictObject({
  tenantId: z.string(),
  scopes: z.array(z.string().min(1)).min(1),
  studentIds: ids,
  classSourcedIds: ids,
  schoolSourcedIds: ids,
  administrationIds: ids,
});
const answerRequest = z.strictObject({
  tenantId: z.string(),
  bank: z.string(),
  deliverySessionId: z.string().min(1),
  artifactVersionId: z.string().min(1),
  /** What the person typed, or for an item that the explorer cannot score, whether the answer counts as correct. */
  response: z.union([z.string().max(100), z.boolean()]),
});
const informationRequest = z.strictObject({
  tenantId: z.string(),
  bank: z.string(),
  answered: z.array(z.strictObject({ artifactVersionId: z.string(), correct: z.boolean() })).max(500),
  artifactVersionId: z.string(),
});

const stopCauseRequest = z.strictObject({ tenantId: z.string(), resultRecordRef: z.string() });
/** What the platform emulator shows of the result records that Results holds. */
const heldRecords = z.object({
  tenants: z.record(
    z.string(),
    z.object({ entities: z.object({ 'results.record': z.record(z.string(), z.unknown()) }) }),
  ),
});
const runRecord = z.object({ request: z.object({ metadata: resultRecordRequest.shape.metadata }) });

/**
 * Serves what the explorer needs on this machine in addition to the services: tokens of the local issuer, the names of seeded things, the
 * platform's player, and the faults of the platform emulator. A development tool; a deployment has none of it.
 */
export function createExplorerBackend(
  options: ExplorerOptions,
): (request: ExplorerRequest) => Promise<HttpAnswer> {
  const bankOf = cached((tenantId, name) => {
    const bank = findBank(options.seed, tenantOf(options, tenantId), name);
    if (!bank.ok) throw new Refusal(bank.error);
    return bank.value;
  });
  const modelOf = cached((tenantId, name) => {
    const model = compileModel(bankOf(tenantId, name).parameters);
    if (!model.ok) throw new Error('a released calibration compiles');
    return model.value;
  });

  const endpoints: Readonly<Record<string, (body: unknown) => Promise<HttpAnswer> | HttpAnswer>> = {
    'POST token': async (body) => {
      const { tenantId, scopes, ...claims } = tokenRequest.parse(body);
      return json(200, {
        token: await options.tokenFor(tenantOf(options, tenantId).tenantId, scopes, claims),
      });
    },
    'POST answer': async (body) => {
      const request = answerRequest.parse(body);
      const { tenantId, deliverySessionId, artifactVersionId, response } = request;
      const { itemNames, textOf } = bankOf(tenantId, request.bank);
      if (itemNames[artifactVersionId] === undefined) throw new Refusal('unknown item');
      const { stem } = textOf(artifactVersionId);
      const evaluated = typeof response === 'boolean' ? response : evaluateDifference(stem, response);
      if (evaluated === undefined)
        throw new Refusal('this item has no key: say whether the answer counts as correct');
      // The player refuses it: QTI is not told, and the item stays.
      if (typeof evaluated === 'object') return json(200, evaluated);
      const correct = evaluated === true || evaluated === 'right';
      const attempt = attemptRequest({
        platformUrl: options.platformUrl,
        tenantId,
        playerToken: options.playerToken(tenantId),
        deliverySessionId,
        correct,
      });
      try {
        const scored = await options.fetch(...attempt);
        await scored.arrayBuffer();
        return scored.ok
          ? json(200, { correct })
          : json(502, { message: `QTI rejected the answer with status ${scored.status}.` });
      } catch {
        return json(200, { correct, failure: 'QTI did not respond to the answer.' });
      }
    },
    'POST information': (body) => {
      const { tenantId, bank, answered, artifactVersionId } = informationRequest.parse(body);
      return json(200, { bits: informationOf(modelOf(tenantId, bank), answered, artifactVersionId) });
    },
    'POST stop-cause': async (body) => {
      const { tenantId, resultRecordRef } = stopCauseRequest.parse(body);
      tenantOf(options, tenantId);
      const response = await options.fetch(`${options.platformUrl}/_control/state`, { method: 'GET' });
      const { tenants } = heldRecords.parse(await response.json());
      const record = tenants[tenantId]?.entities['results.record'][resultRecordRef];
      return json(200, { stopCause: runRecord.safeParse(record).data?.request.metadata?.stopCause });
    },
    'GET faults': () => passOn(options, 'GET', undefined),
    'POST faults': (body) => passOn(options, 'POST', body),
    'DELETE faults': () => passOn(options, 'DELETE', undefined),
  };

  return async ({ method, path, body }) => {
    const described = /^tenants\/([^/]+)$/.exec(path);
    try {
      if (method === 'GET' && described !== null) {
        const tenant = tenantOf(options, decodeURIComponent(described[1] ?? ''));
        return json(
          200,
          describeTenant(options.seed, tenant, (name) => bankOf(tenant.tenantId, name)),
        );
      }
      const endpoint = endpoints[`${method} ${path}`];
      if (endpoint === undefined) return json(404, { message: 'the explorer has nothing here' });
      return await endpoint(body === '' ? undefined : JSON.parse(body));
    } catch (error) {
      if (error instanceof z.ZodError) return json(400, { message: z.prettifyError(error) });
      if (error instanceof Refusal || error instanceof SyntaxError || error instanceof URIError) {
        return json(400, { message: error.message });
      }
      throw error;
    }
  };
}

/** `config.json` of a local explorer. A deployed one has `mode` `sandbox` and no tenants. */
export function explorerConfig({ tenants, operationIds, sandbox }: ExplorerOptions): object {
  return {
    mode: 'local',
    urls: { mastery: '/mastery', reports: '/reports', sandbox: '/sandbox' },
    tenants: [...tenants.keys()],
    operationIds,
    sandbox,
    faults: { operations: faultyOperations, kinds: faultKinds, invariants: invariantsOf },
  };
}

/** What the caller can put right. */
class Refusal extends Error {}

export function json(status: number, body: object): HttpAnswer {
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: JSON.stringify(body),
  };
}

function tenantOf({ tenants }: ExplorerOptions, tenantId: string): SeededTenant {
  const tenant = tenants.get(tenantId);
  if (tenant === undefined)
    throw new Refusal(`unknown tenant; expected one of ${[...tenants.keys()].join(', ')}`);
  return tenant;
}

/** Returns a function of a tenant and the name of a bank that computes each value once. */
function cached<Value>(
  compute: (tenantId: string, bank: string) => Value,
): (tenantId: string, bank: string) => Value {
  const values = new Map<string, Value>();
  return (tenantId, bank) => {
    const key = JSON.stringify([tenantId, bank]);
    const value = values.get(key) ?? compute(tenantId, bank);
    values.set(key, value);
    return value;
  };
}

/** Returns what the items of the forms are called, by QTI identifier. */
function formItemNames({ reports }: Seed, { tenantId, platform }: SeededTenant): Record<string, string> {
  const ids = reportIds(reports, tenantId);
  return Object.fromEntries(
    reports.testSpecs
      .flatMap(({ forms }) => forms)
      .flatMap((form) =>
        Array.from({ length: platform.reports.formItems.get(ids.form(form)) ?? 0 }, (_, at) => [
          itemId(ids.form(form), at + 1),
          `Item ${at + 1} of form ${form}`,
        ]),
      ),
  );
}

/** Returns what a thing of the seed is called: `class-5a` is "Class 5a". */
function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns what a learner of the seed is called: `iris-with-history` is "Iris". */
function personOf(name: string): string {
  return titleOf(name.split('-', 1)[0] ?? name);
}

function describeTenant(seed: Seed, tenant: SeededTenant, bankOf: (name: string) => JourneyBank): object {
  const { tenantId, fixtures } = tenant;
  const ids = reportIds(seed.reports, tenantId);
  const withLargeReport = new Set(
    seed.reports.attempts.filter(({ record }) => record?.generatedMastery).map(({ student }) => student),
  );
  return {
    tenantId,
    resultsStudentId: fixtures.mastery.resultsStudentId,
    reports: fixtures.reports,
    names: Object.fromEntries<string>([
      ...tenant.platform.caseItems.map(
        ({ identifier, fullStatement }) => [identifier, fullStatement] as const,
      ),
      ...seed.reports.administrations.map(({ name }) => [ids.administration(name), name] as const),
      ...seed.reports.students.map(({ name }) => [ids.student(name), personOf(name)] as const),
      ...seed.reports.classes.map(({ name }) => [ids.class(name), titleOf(name)] as const),
      ...seed.reports.schools.map(({ name }) => [ids.school(name), titleOf(name)] as const),
      ...seed.reports.testSpecs.flatMap(({ forms }) =>
        forms.map((form) => [ids.form(form), titleOf(form)] as const),
      ),
    ]),
    // The largest report would be a column for each of its thousands of components.
    learners: seed.reports.students
      .filter(({ name, status }) => status !== 'tobedeleted' && !withLargeReport.has(name))
      .map(({ name }) => ids.student(name)),
    precedes: tenant.platform.reports.packages.flatMap(({ CFAssociations }) =>
      CFAssociations.filter(({ associationType }) => associationType === 'precedes').map(
        ({ originNodeURI, destinationNodeURI }) => [originNodeURI.identifier, destinationNodeURI.identifier],
      ),
    ),
    formItems: formItemNames(seed, tenant),
    banks: fixtures.mastery.banks.map(({ name }) => {
      const { fixture, title, labels, parameters, textOf } = bankOf(name);
      const policy = tenant.policies.find(({ document }) => document.id === fixture.selectionPolicyId);
      return {
        name,
        title,
        start: testOf(fixture),
        rule: {
          kcCutScore: policy?.document.kcCutScore,
          confidenceThreshold: policy?.document.confidenceThreshold,
          maxItems: policy?.document.maxItems,
          timeBudgetSeconds: policy?.document.timeBudgetSeconds,
          minimumDecisionGain: policy?.document.eligibilityRules.minimumDecisionGain,
        },
        kcs: [...labels].map(([guid, label]) => ({ guid, label })),
        items: parameters.items.map(({ artifactVersionId, qtiIdentifier, kcs }) => {
          const text = textOf(artifactVersionId);
          const hasKey = evaluateDifference(text.stem, '0') !== undefined;
          return { artifactVersionId, qtiIdentifier, kcs, ...text, hasKey };
        }),
      };
    }),
  };
}

/**
 * Returns the expected information of an answer to the item, in bits, given the answers so far. The services do not publish it; the explorer
 * computes it with the engine itself.
 */
function informationOf(
  model: CompiledModel,
  answered: readonly { readonly artifactVersionId: string; readonly correct: boolean }[],
  artifactVersionId: string,
): number {
  const indexOf = (id: string): number => {
    const index = model.itemIndex.get(id);
    if (index === undefined) throw new Refusal('unknown item');
    return index;
  };
  const outcomes = answered.map(({ artifactVersionId: id, correct }) => ({ item: indexOf(id), correct }));
  const item = indexOf(artifactVersionId);
  const eligible = new Uint8Array(model.itemIds.length);
  eligible[item] = 1;
  const gains = new Float64Array(model.itemIds.length);
  model.core.informationGains(estimate(model, outcomes), eligible, gains, Infinity);
  return gains[item] ?? NaN;
}

/** Passes on the platform emulator's answer, with its defects as one message. */
async function passOn(options: ExplorerOptions, method: string, body: unknown): Promise<HttpAnswer> {
  const response = await options.fetch(`${options.platformUrl}/_control/faults`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = controlAnswer.parse(await response.json());
  const { errors } = answer;
  return json(
    response.status,
    errors === undefined
      ? answer
      : { message: errors.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join('; ') },
  );
}

const controlAnswer = z.looseObject({
  errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
});
