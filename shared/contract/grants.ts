import type { Gate } from './gates.ts';

/** The meaning of a grant for the stack that issues it and for the function that has it. */
interface GrantMeaning {
  /** The environment variable with the address of the thing. */
  readonly variable: string;
  /** The function works without it: its environment may contain a single service profile instead [MA-010], or the stage names no run of the canary. */
  readonly dispensable?: true;
}

/**
 * Every stored thing that a function may use, with the meaning of its grant: stacks, local runtime and pipeline read this table. `keys:<purpose>`
 * lets the function unwrap the keys of that purpose of the key ring.
 */
const meanings = {
  'records:read': { variable: 'RECORDS_TABLE' },
  'control:write': { variable: 'CONTROL_TABLE' },
  /** For counting the requests of a tenant. Every route implies it. */
  'control:count': { variable: 'CONTROL_TABLE' },
  'keys:continuation': { variable: 'SETTINGS_TABLE' },
  'keys:cursor': { variable: 'SETTINGS_TABLE' },
  /** Runs with all that belongs to them. */
  'improvement:read': { variable: 'IMPROVEMENT_TABLE' },
  /** One part of a run by its id. */
  'improvement:read-part': { variable: 'IMPROVEMENT_TABLE' },
  'improvement:create': { variable: 'IMPROVEMENT_TABLE' },
  /** For moving a run from state to state, out of the list of open runs in the end. */
  'improvement:change': { variable: 'IMPROVEMENT_TABLE' },
  'improvement:queue': { variable: 'IMPROVEMENT_QUEUE_URL' },
  'receipts:read': { variable: 'RECEIPTS_BUCKET' },
  'receipts:write': { variable: 'RECEIPTS_BUCKET' },
  /** For making links: the keys that seal them, and the address that they begin with. */
  'receipts:link': { variable: 'RECEIPTS_URL' },
  'keys:receipt-link': { variable: 'SETTINGS_TABLE' },
  'keys:idempotency': { variable: 'SETTINGS_TABLE' },
  'keys:pseudonym': { variable: 'SETTINGS_TABLE' },
  /** For moving the keys of `scheduledPurposes` from state to state, and for recording that; not for unwrapping one. */
  'ring:rotate': { variable: 'SETTINGS_TABLE' },
  /** For having KMS create and wrap a key of these purposes, without exposing it. */
  'ring:wrap': { variable: 'KEY_ARN' },
  /** For calling the public address of the sandbox. */
  'sandbox:call': { variable: 'SANDBOX_URL' },
  /** For running the canary's test: its token, and the public address of the mastery engine. Only where the stage names a run. */
  'canary:run': { variable: 'MASTERY_URL', dispensable: true },
  'profiles:read': { variable: 'SETTINGS_TABLE', dispensable: true },
  /** For looking at everything that is deployed: no part of it opens a credential or a key, and only the wrapped keys of the ring can be read. */
  'stage:watch': { variable: 'SETTINGS_TABLE' },
  /** What is released, and by which proof. The gates of a row imply it; a row without gates names it for its receipts. */
  'release:read': { variable: 'SETTINGS_TABLE' },
} as const satisfies Readonly<Record<string, GrantMeaning>>;

/** A stored thing that a route's function uses: the stacks grant exactly these, and no more. */
export type Grant = keyof typeof meanings;

/** Returns the name of the SecureString with the bearer token of the canary's runs. */
export function canaryCredential(stage: string): string {
  return `/${stage}/canary/token`;
}

/** The part of a row that decides what its function may use. */
interface Granted {
  readonly gates: readonly Gate[];
  readonly lambda: { readonly grants: readonly Grant[] };
  /** A function with a trigger of its own serves no route. */
  readonly trigger?: string;
}

/** Returns whether a function exists only while gates are open: then it checks the gates at every call. */
export function isGated({ gates }: Pick<Granted, 'gates'>): boolean {
  return gates.length > 0;
}

/** Returns whether a function rotates keys: then it reads how long a key seals. */
export function rotatesKeys({ lambda }: Pick<Granted, 'lambda'>): boolean {
  return lambda.grants.includes('ring:rotate');
}

/** Returns whether a function looks at the whole stage: then it reads the settings that it compares. */
export function watchesStage({ lambda }: Pick<Granted, 'lambda'>): boolean {
  return lambda.grants.includes('stage:watch');
}

/** Returns everything that a function may use: what its row names, the count of requests if it serves a route, and the release if it waits for gates. */
export function grantsOf(row: Granted): readonly Grant[] {
  return [
    ...row.lambda.grants,
    ...(row.trigger === undefined ? (['control:count'] as const) : []),
    ...(isGated(row) ? (['release:read'] as const) : []),
  ];
}

export type GrantVariable = (typeof meanings)[Grant]['variable'];

type GrantKeyPurpose = Grant extends infer G ? (G extends `keys:${infer Purpose}` ? Purpose : never) : never;

/** Returns the variables that the grants come with, each once. */
export function variablesOfGrants(grants: readonly Grant[]): readonly GrantVariable[] {
  return [...new Set(grants.map((grant) => meanings[grant].variable))];
}

/** Returns the variables that a function with these grants requires. */
export function demandedVariablesOf(grants: readonly Grant[]): readonly GrantVariable[] {
  return variablesOfGrants(grants.filter((grant) => !('dispensable' in meanings[grant])));
}

/** Returns the purposes of the key ring among the grants, in the order of their names. */
export function keyPurposesOf(grants: readonly Grant[]): readonly GrantKeyPurpose[] {
  const prefix = 'keys:';
  return (
    grants
      .filter((grant) => grant.startsWith(prefix))
      // SAFETY: these are the grants of the form `keys:<purpose>`.
      .map((grant) => grant.slice(prefix.length) as GrantKeyPurpose)
      .toSorted()
  );
}
