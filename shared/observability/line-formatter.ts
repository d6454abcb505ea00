import { LogFormatter, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { ERROR_LINES, logCodes, METRIC_NAMESPACE } from './log-codes.ts';
import type { FieldKind, LogCode } from './log-codes.ts';

/** What every line of one invocation says of it. Undefined members are left out. */
export interface InvocationFacts {
  readonly operation: string;
  /** The id that the caller has: the gateway's, or of a background function the invocation's. */
  readonly requestId: string;
  readonly function_request_id: string;
  /** The version of the function that wrote the line. */
  readonly function_version: string | undefined;
  readonly cold_start: boolean;
  readonly xray_trace_id: string | undefined;
}

/** The members that stand on every line, in order; a code's row adds its own. */
export const lineMembers = [
  'level',
  'message',
  'timestamp',
  'service',
  'cold_start',
  'function_request_id',
  'function_version',
  'xray_trace_id',
  'code',
  'operation',
  'requestId',
] as const;

const registry: Readonly<Partial<Record<string, LogCode>>> = logCodes;

/** The row of a code, if it is registered. */
export function rowOf(code: unknown): LogCode | undefined {
  return typeof code === 'string' && Object.hasOwn(registry, code) ? registry[code] : undefined;
}

/**
 * Writes what the row of a line's code allows, and nothing else: the message is the row's meaning, whatever text the line came with; of its
 * `fields` those that the row names; of its `invocation` the members of `InvocationFacts`. No other attribute is looked at.
 */
export class LineFormatter extends LogFormatter {
  readonly #now: () => number;
  readonly #stage: () => string;

  /**
   * @param now epoch milliseconds
   * @param stage the dimension of the figures that CloudWatch takes from lines
   */
  constructor(now: () => number, stage: () => string) {
    super();
    this.#now = now;
    this.#stage = stage;
  }

  override formatAttributes(
    { logLevel, serviceName }: UnformattedAttributes,
    { code, invocation, fields }: LogAttributes,
  ): LogItem {
    const row = rowOf(code);
    const { message, given } = row
      ? { message: row.meaning, given: membersOf(fields) }
      : { message: logCodes.LOG_CODE_UNKNOWN.meaning, given: {} };
    const facts = membersOf(invocation);
    const line: Record<(typeof lineMembers)[number], unknown> = {
      level: logLevel,
      message,
      timestamp: this.formatTimestamp(new Date(this.#now())),
      service: serviceName,
      cold_start: factOf(facts, 'cold_start'),
      function_request_id: factOf(facts, 'function_request_id'),
      function_version: factOf(facts, 'function_version'),
      xray_trace_id: factOf(facts, 'xray_trace_id'),
      code: row ? code : 'LOG_CODE_UNKNOWN',
      operation: factOf(facts, 'operation'),
      requestId: factOf(facts, 'requestId'),
    };
    const named: LogAttributes = {};
    for (const [name, kind] of Object.entries(row?.fields ?? {})) {
      const value = given[name];
      if (Object.hasOwn(given, name) && value !== undefined) named[name] = admit(kind, value);
    }
    const figures = figuresOf(row, String(code), named, line.function_version);
    return new LogItem({ attributes: { ...line, ...named, ...this.#measure(figures) } });
  }

  /** The members by which CloudWatch counts a line or takes a field of it (embedded metric format). */
  #measure(figures: readonly Figure[]): LogAttributes {
    if (figures.length === 0) return {};
    return {
      stage: this.#stage(),
      ...Object.fromEntries(figures.flatMap(({ members }) => Object.entries(members))),
      _aws: {
        Timestamp: this.#now(),
        CloudWatchMetrics: figures.map(({ name, unit, dimensions }) => ({
          Namespace: METRIC_NAMESPACE,
          Dimensions: [[...dimensions]],
          Metrics: [{ Name: name, Unit: unit }],
        })),
      },
    };
  }
}

/** What CloudWatch takes from a line. */
interface Figure {
  readonly name: string;
  readonly unit: 'Count' | 'None';
  readonly dimensions: readonly string[];
  readonly members: Readonly<Record<string, number>>;
}

/** The figures of a line: those of its code, and an error of a published version. */
function figuresOf(
  row: LogCode | undefined,
  code: string,
  named: LogAttributes,
  version: unknown,
): readonly Figure[] {
  const dimensions = ['stage'];
  const ofCode: readonly Figure[] =
    row?.alarm !== undefined
      ? [{ name: code, unit: 'Count', dimensions, members: { [code]: 1 } }]
      : row?.metric !== undefined && typeof named[row.metric] === 'number'
        ? [{ name: row.metric, unit: 'None', dimensions, members: {} }]
        : [];
  return row?.level === 'error' && /^\d+$/.test(String(version))
    ? [...ofCode, { ...ERROR_LINES, unit: 'Count', members: { [ERROR_LINES.name]: 1 } }]
    : ofCode;
}

const REDACTED = '[redacted]';
const WORD = /^[\x20-\x7e]{0,200}$/;
/** A compact JWS or JWE, or anything else that carries one. */
const TOKEN = /eyJ[\w-]*\.|bearer /i;

function factOf(facts: Readonly<Record<string, unknown>>, name: keyof InvocationFacts): unknown {
  const value = facts[name];
  return value === undefined ? undefined : admit(name === 'cold_start' ? 'boolean' : 'word', value);
}

/** What a field's kind lets through of a value. The rest is replaced, never written. */
function admit(kind: FieldKind, value: unknown): unknown {
  if (value === null) return null;
  switch (kind) {
    case 'word':
      return typeof value === 'string' && WORD.test(value) && !TOKEN.test(value) ? value : REDACTED;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : REDACTED;
    case 'boolean':
      return typeof value === 'boolean' ? value : REDACTED;
    case 'words':
      return Array.isArray(value)
        ? value.slice(0, 100).map((member: unknown) => admit('word', member))
        : REDACTED;
    default:
      return Array.isArray(value)
        ? value.slice(0, 500).map((entry: unknown) => admitEntry(kind, entry))
        : REDACTED;
  }
}

function admitEntry(names: readonly string[], entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return REDACTED;
  const members = membersOf(entry);
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(members, name) && members[name] !== undefined)
      .map((name) => [name, admit(kindOf(members[name]), members[name])]),
  );
}

/** The only kind that could admit the value of a list entry. */
function kindOf(value: unknown): FieldKind {
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'word';
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
