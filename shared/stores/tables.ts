/** The tables, defined once: the stacks and the local runtime create them from here. `ttl` only purges; every access checks the expiry. */
export interface TableDefinition {
  readonly name: 'records' | 'control' | 'settings' | 'improvement';
  /** The environment variable with the table's deployed name. */
  readonly variable: string;
  readonly partitionKey: string;
  readonly sortKey?: string;
  readonly ttl?: string;
  readonly holds: string;
}

export const tables = [
  {
    name: 'records',
    variable: 'RECORDS_TABLE',
    partitionKey: 'pk',
    sortKey: 'sk',
    holds:
      'immutable selection policies and scale calibrations; written once by the release command, read by functions',
  },
  {
    name: 'control',
    variable: 'CONTROL_TABLE',
    partitionKey: 'id',
    ttl: 'purgeAt',
    holds:
      'payload-free idempotency control records, usable for exactly 24 hours; counts of the requests of each tenant in ten seconds',
  },
  {
    name: 'settings',
    variable: 'SETTINGS_TABLE',
    partitionKey: 'pk',
    sortKey: 'sk',
    holds:
      'data keys with their states and service profiles, wrapped by KMS; and what of the release is open',
  },
  {
    name: 'improvement',
    variable: 'IMPROVEMENT_TABLE',
    partitionKey: 'pk',
    sortKey: 'sk',
    holds:
      'workflow records of improvement runs and revision orders: ids, references, versions, digests, states, times',
  },
] as const satisfies readonly TableDefinition[];

/** The attributes of `settings` that show when credentials expire: all that the watcher's role may scan. */
export const expiryAttributes = ['pk', 'sk', 'credentialExpiresAt'] as const;

/** For how many days the queues keep a message. */
export const queueDays = { runs: 4, deadLetters: 14 } as const;
