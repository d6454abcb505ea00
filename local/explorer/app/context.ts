import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { createMasteryClient, createReportsClient, createSandboxClient } from '#client/index.ts';
import type { MasteryClient, ReportsClient, RetryEvent, SandboxClient } from '#client/index.ts';
import { recorder } from './exchanges.ts';
import { pausing } from './pauses.ts';
import { tokenProvider, type Claims, type Config, type Tenant } from './session.ts';
import { failureOf } from './words.ts';

/** What every view works with. */
export interface Surface {
  readonly config: Config;
  /** Undefined over the sandbox, which has no tenants. */
  readonly tenant: Tenant | undefined;
  readonly mastery: () => MasteryClient;
  /** A client of the reports service for learners, cohorts and administrations that the claims name; over the sandbox, a client of that. */
  readonly reports: (
    scope: 'reports:read' | 'reports:write',
    claims: Claims,
  ) => ReportsClient & SandboxClient;
  /** Names of everything that has one, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Pairs of standards or components of which the first is taught before the second. */
  readonly precedes: readonly (readonly [before: string, after: string])[];
  /** What a standard, a knowledge component or an administration is called. */
  readonly nameOf: (caseGuid: string) => string;
  /** What an item is called, by QTI identifier. */
  readonly itemNameOf: (qtiItemId: string) => string;
}

export function createSurface(config: Config, tenant: Tenant | undefined): Surface {
  const common = () => {
    let why = '';
    return {
      fetch: recorder(),
      // A person should see the problem soon, and can try again.
      maxRetries: 1,
      onRetry: ({ error }: RetryEvent) => {
        why = failureOf(error);
      },
      sleep: pausing(() => why),
    };
  };
  const address = (base: string): string => new URL(base, location.href).href.replace(/\/$/, '');
  const names = new Map([
    ...Object.entries((tenant ?? config).names ?? {}),
    ...Object.entries(tenant?.formItems ?? {}),
    ...(tenant?.banks ?? []).flatMap((bank) =>
      bank.items.map(({ qtiIdentifier, name, stem }) => [qtiIdentifier, stem === '' ? name : stem] as const),
    ),
  ]);
  return {
    config,
    tenant,
    mastery: () =>
      createMasteryClient({
        baseUrl: address(config.urls.mastery ?? ''),
        ...common(),
        token: tokenProvider(tenant?.tenantId ?? '', ['mastery:run', 'mastery:read'], {}),
      }),
    reports: (scope, claims) =>
      // SAFETY: the sandbox serves a part of the reports service's operations, under the same names; views of others are not offered there.
      (tenant === undefined
        ? createSandboxClient({ ...common(), baseUrl: address(config.urls.sandbox) })
        : createReportsClient({
            baseUrl: address(config.urls.reports ?? ''),
            ...common(),
            token: tokenProvider(tenant.tenantId, [scope], claims),
          })) as ReportsClient & SandboxClient,
    names,
    precedes: tenant?.precedes ?? [],
    nameOf: (caseGuid) => names.get(caseGuid) ?? 'one without a known name',
    itemNameOf: (qtiItemId) => names.get(qtiItemId) ?? 'an item without a known name',
  };
}

export const SurfaceContext = createContext<Surface | undefined>(undefined);

export function useSurface(): Surface {
  const surface = useContext(SurfaceContext);
  if (surface === undefined) throw new Error('a view is rendered inside a SurfaceContext');
  return surface;
}
