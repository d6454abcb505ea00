/** What the page knows of where it runs: the services, the tenants of a local stack with the names of their seeded things, and tokens. */

interface SandboxFixtures {
  readonly masteryGateAttempt: string;
  readonly adaptiveDiagnosticAttempt: string;
  readonly candidate: string;
  readonly form: string;
}

/** The page’s `config.json`. */
export interface Config {
  readonly mode: 'local' | 'sandbox';
  /** Base addresses on this origin, without `/v1`; for the sandbox, only that of the sandbox. */
  readonly urls: { readonly mastery?: string; readonly reports?: string; readonly sandbox: string };
  readonly tenants: readonly string[];
  /** The operations that are served; views of others are not offered. */
  readonly operationIds: readonly string[];
  readonly sandbox: SandboxFixtures;
  /** Names of standards and knowledge components by CASE GUID, over the sandbox; a local stack has them per tenant. */
  readonly names?: Readonly<Record<string, string>>;
  /** What can go wrong at the platform emulator on demand; absent over the sandbox. */
  readonly faults?: {
    readonly operations: readonly string[];
    readonly kinds: readonly string[];
    /** What the fault `contradiction` can break, by operation. */
    readonly invariants: Readonly<Record<string, readonly string[]>>;
  };
}

interface BankItem {
  readonly artifactVersionId: string;
  readonly qtiIdentifier: string;
  readonly name: string;
  readonly stem: string;
  readonly kcs: readonly string[];
  /** Whether the explorer can score what a person types. */
  readonly hasKey: boolean;
}

export interface Bank {
  readonly name: string;
  readonly title: string;
  /** The members of a start request that name the test. */
  readonly start: Readonly<
    Record<
      'selectionPolicyId' | 'scaleCalibrationId' | 'testSpecId' | 'testBankId' | 'bankOperationId',
      string
    >
  >;
  readonly rule: {
    readonly kcCutScore: number;
    readonly confidenceThreshold: number;
    readonly maxItems: number;
    /** Null without a limit of time. */
    readonly timeBudgetSeconds: number | null;
    /** Absent without this rule. */
    readonly minimumDecisionGain?: number;
  };
  readonly kcs: readonly { readonly guid: string; readonly label: string }[];
  readonly items: readonly BankItem[];
}

export interface SchoolGrade {
  readonly schoolSourcedId: string;
  readonly grade: string;
}

export interface Tenant {
  readonly tenantId: string;
  readonly resultsStudentId: string;
  readonly banks: readonly Bank[];
  readonly names: Readonly<Record<string, string>>;
  readonly precedes: readonly (readonly [before: string, after: string])[];
  /** The learners of one class. */
  readonly learners: readonly string[];
  readonly formItems: Readonly<Record<string, string>>;
  readonly reports: {
    readonly attempts: Readonly<Record<string, string>>;
    readonly administrationOf: Readonly<Record<string, string>>;
    readonly candidates: Readonly<Record<string, string>>;
    readonly students: readonly string[];
    readonly classes: readonly string[];
    readonly schools: readonly SchoolGrade[];
    readonly forms: Readonly<Record<string, string>>;
    readonly administrations: readonly string[];
    readonly special: {
      readonly classesWithheld: readonly string[];
      readonly classesWithoutRollup: readonly string[];
    };
  };
}

export interface Claims {
  readonly studentIds?: readonly string[];
  readonly classSourcedIds?: readonly string[];
  readonly schoolSourcedIds?: readonly string[];
  readonly administrationIds?: readonly string[];
}

export async function loadConfig(): Promise<Config> {
  const response = await fetch('config.json');
  if (!response.ok) throw new Error(`config.json: status ${response.status}`);
  return (await response.json()) as Config;
}

/** Calls the explorer's own backend, which only a local stack has. */
async function backend<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`api/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Answer & { readonly message?: string };
  if (!response.ok) {
    throw new Error(answer.message ?? `${method} ${path} failed with status ${response.status}`);
  }
  return answer;
}

export const loadTenant = (tenantId: string): Promise<Tenant> =>
  backend('GET', `tenants/${encodeURIComponent(tenantId)}`);

/** Returns a provider of tokens for one purpose, which renews them before they expire. */
export function tokenProvider(
  tenantId: string,
  scopes: readonly string[],
  claims: Claims,
): () => Promise<string> {
  const lifetime = 50 * 60 * 1000;
  let issued: { readonly token: Promise<string>; readonly until: number } | undefined;
  return () => {
    if (issued === undefined || issued.until < Date.now()) {
      const token = backend<{ token: string }>('POST', 'token', { tenantId, scopes, ...claims }).then(
        (answer) => answer.token,
      );
      issued = { token, until: Date.now() + lifetime };
      token.catch(() => {
        issued = undefined;
      });
    }
    return issued.token;
  };
}

/** What the platform's player made of an answer. After a failure, it may or may not have been scored. */
type Played =
  | { readonly correct: boolean; readonly failure?: string }
  /** It was refused, with what to tell the person who wrote it. */
  | { readonly unreadable: string };

/** Hands an answer to the platform's player. */
export async function answerItem(answer: {
  readonly tenantId: string;
  readonly bank: string;
  readonly deliverySessionId: string;
  readonly artifactVersionId: string;
  readonly response: string | boolean;
}): Promise<Played> {
  return backend('POST', 'answer', answer);
}

export interface Answered {
  readonly artifactVersionId: string;
  readonly correct: boolean;
}

/** Returns the expected information of an item, in bits, given the answers so far. */
export async function informationOf(
  tenantId: string,
  bank: string,
  answered: readonly Answered[],
  artifactVersionId: string,
): Promise<number> {
  const { bits } = await backend<{ bits: number }>('POST', 'information', {
    tenantId,
    bank,
    answered,
    artifactVersionId,
  });
  return bits;
}

/** Returns the cause of a run's end as its result record names it; undefined if there is no such record. */
export async function stopCauseOf(tenantId: string, resultRecordRef: string): Promise<string | undefined> {
  return (await backend<{ stopCause?: string }>('POST', 'stop-cause', { tenantId, resultRecordRef }))
    .stopCause;
}

export interface Fault {
  readonly operation: string;
  readonly kind: string;
  readonly times: number;
}

export const faults = {
  list: (): Promise<{ readonly faults: readonly Fault[] }> => backend('GET', 'faults'),
  arm: (fault: object): Promise<unknown> => backend('POST', 'faults', fault),
  clear: (): Promise<unknown> => backend('DELETE', 'faults'),
};
