import type { ReportDependencies } from '#functions/reports/endpoints/support/owners.ts';
import type { AttemptFacts } from '#functions/reports/facts/facts.ts';
import { createFrameworks } from '#functions/reports/sources/case-package.ts';
import type { Route } from '#shared/contract/route.ts';
import type { OperationRequest } from '#shared/http/operation.ts';
import type { Control } from '#shared/idempotency/control-record.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import type { UpstreamFault } from '#shared/platform/fault.ts';
import { operations } from '#shared/platform/all-operations.ts';
import type { UpstreamOperation } from '#shared/platform/operation.ts';
import type { Platform, UpstreamAnswer, UpstreamCall } from '#shared/platform/platform.ts';
import type { ProfileFault, ServiceProfile } from '#shared/platform/service-profiles.ts';
import { namesOf, repeats } from '#shared/platform/transport/answer.ts';
import { secret } from '#shared/platform/transport/secret.ts';
import type { Problem } from '#shared/problems/problem.ts';
import { wholeRelease } from './release.ts';

/** An upstream operation by the name of its row. */
export type OperationName = keyof typeof operations;

/** What an owner gives for one call: a value that its row's schema takes, under an entity tag or none, or a fault. */
export type Scripted =
  | {
      readonly value: unknown;
      readonly etag?: string;
      /** SHA-256 hex of its bytes; default: zeros. */ readonly bodyHash?: string;
    }
  | Pick<UpstreamFault, 'kind' | 'status'>;

/** The owners' answers by operation: one after another, the last one for ever. */
export type Script = Readonly<Partial<Record<OperationName, Scripted | readonly Scripted[]>>>;

/** One call that was made. */
export interface Asked {
  readonly name: OperationName;
  readonly call: UpstreamCall<UpstreamOperation>;
  /** What `If-None-Match` asked about. */
  readonly etag: string | undefined;
}

export interface ScriptedOwners extends Platform {
  readonly asked: readonly Asked[];
  /** The names of the calls, sorted. */
  readonly names: () => readonly string[];
}

/**
 * A platform whose owners say what a script says; whatever the script has no answer for throws. A `not_modified` answer is given where the
 * scripted tag is the one asked about.
 * @param arrive decides when an answer arrives; default: at once
 */
export function scriptedOwners(
  script: Script,
  arrive: <T>(answer: T, name: OperationName) => Promise<T> = (answer) => Promise.resolve(answer),
): ScriptedOwners {
  const asked: Asked[] = [];

  function answer<T>(
    operation: UpstreamOperation,
    call: UpstreamCall<UpstreamOperation>,
    etag?: string,
  ): Promise<Result<'unchanged' | UpstreamAnswer<T>, UpstreamFault>> {
    const [name] = Object.entries(operations).find(([, row]) => row === operation) as [
      OperationName,
      UpstreamOperation,
    ];
    const answers = [script[name] ?? []].flat();
    const made = asked.filter((other) => other.name === name).length;
    asked.push({ name, call, etag });
    const scripted = answers[made] ?? answers.at(-1);
    if (scripted === undefined) throw new Error(`nothing is scripted for ${name}`);
    return arrive(resultOf<T>(operation, scripted, namesOf(call), etag), name);
  }

  return {
    // SAFETY: without a tag nothing is answered as unchanged, and the values pass the row's own schema.
    call: (operation, call) => answer(operation, call) as never,
    revalidate: (operation, call, etag) => answer(operation, call, etag),
    pause: () => Promise.resolve(),
    trace: () => [],
    asked,
    names: () => asked.map(({ name }) => name).toSorted(),
  };
}

function resultOf<T>(
  operation: UpstreamOperation,
  scripted: Scripted,
  named: Readonly<Record<string, unknown>>,
  asked: string | undefined,
): Result<'unchanged' | UpstreamAnswer<T>, UpstreamFault> {
  if ('kind' in scripted) {
    const { service, id } = operation;
    return err({ ...scripted, service, operation: id, transient: scripted.kind === 'unavailable' });
  }
  const { value, etag, bodyHash = '0'.repeat(64) } = scripted;
  if (asked !== undefined && etag === asked) return ok('unchanged');
  const parsed = operation.answer.safeParse(value);
  const failed = (kind: 'invalid' | 'wrong-entity') =>
    err({ kind, service: operation.service, operation: operation.id, transient: false });
  if (!parsed.success) return failed('invalid');
  if (!repeats(operation, parsed.data, named)) return failed('wrong-entity');
  return ok({
    value: parsed.data as T,
    etag,
    status: 200,
    upstreamRequestId: undefined,
    bodyHash,
  });
}

type AttemptRead =
  | 'readAttemptEvidence'
  | 'readSettledRecord'
  | 'readReportCriteria'
  | 'readUser'
  | 'readPackage';

/** What the owners answer of an attempt whose facts are given. */
export function scriptOf({
  evidence,
  record,
  criteria,
  framework,
}: AttemptFacts): Readonly<Record<AttemptRead, { readonly value: object }>> {
  const { changedAt, guids, parents } = framework.value;
  return {
    readAttemptEvidence: { value: evidence.value },
    readSettledRecord: { value: record.value },
    readReportCriteria: { value: criteria.value },
    readUser: { value: { user: { sourcedId: evidence.value.candidateSourcedId, status: 'active' } } },
    readPackage: {
      value: {
        CFDocument: { identifier: criteria.value.caseFrameworkGuid, lastChangeDateTime: changedAt },
        CFItems: [...guids].map((identifier) => ({ identifier })),
        CFAssociations: [...parents].flatMap(([child, above]) =>
          above.map((parent) => ({
            associationType: 'isChildOf',
            originNodeURI: { identifier: child },
            destinationNodeURI: { identifier: parent },
          })),
        ),
      },
    },
  };
}

/** What a container of the reports service binds, over any platform. */
export function dependenciesOver(
  connect: ReportDependencies['connect'],
  {
    fault,
    profile,
    now = Date.now,
  }: {
    readonly fault?: ProfileFault;
    readonly profile?: Partial<ServiceProfile>;
    readonly now?: () => number;
  } = {},
): ReportDependencies {
  return {
    profiles: {
      resolve: (tenantId) =>
        Promise.resolve(
          fault === undefined
            ? ok({ tenantId, baseUrl: 'https://platform.example', credential: secret('jwt'), ...profile })
            : err(fault),
        ),
      forget: () => false,
    },
    connect,
    frameworks: createFrameworks(),
    now,
  };
}

/** A result in one line: `facts`, or a problem's status, code and owner. */
export function sentenceOf(result: Result<unknown, Problem>): string {
  if (result.ok) return 'facts';
  const { status, code, dependency } = result.error;
  return [status, code, ...(dependency === undefined ? [] : [dependency])].join(' ');
}

/** A request as the pipeline hands it to an operation without a body, at the given time. */
export function requestOf<R extends Route>(
  receivedAt: number,
  parts: Pick<OperationRequest, 'principal'> & { readonly path: object; readonly query?: object },
): OperationRequest<R> {
  return {
    requestId: '0f8e6d1c-6f0b-4a57-9d3e-2b7f4c1a9e55',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    problemsUrl: 'https://problems.example',
    query: {},
    body: undefined,
    ifMatch: undefined,
    proved: wholeRelease.proved,
    receivedAt,
    deadline: receivedAt + 20_000,
    log: () => undefined,
    idempotent: (work: (control: Control) => unknown) =>
      work({ operationId: 'op_1', createdAt: receivedAt, replayed: false, completed: false }),
    ...parts,
    // SAFETY: path and query are what the test says that the route's schemas make of them.
  } as unknown as OperationRequest<R>;
}
