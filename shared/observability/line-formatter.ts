import { LogFormatter, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { logCodes, METRIC_NAMESPACE, RELEASE_FAULTS } from './log-codes.ts';
import type { FieldKind, Figure, LogCode, LogCodeName } from './log-codes.ts';

/** The members of every line, in order; a code's row adds its own. */
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

/**
 * Writes only what the row of a line's code allows: the row's meaning as the message of a warning or an error, never the line's own text; the `fields` that the row names;
 * from the `invocation` the members of every line. It reads no other attribute.
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
    // SAFETY: a log writes only lines of registered codes.
    const registered = code as LogCodeName;
    const row: LogCode = logCodes[registered];
    const line: LogAttributes = {
      ...admitMembers(lineMembers, invocation),
      level: logLevel,
      // For other lines docs/log-codes.md has the meaning: a sentence in each would be a tenth of what a call logs.
      ...(logLevel === 'WARN' || logLevel === 'ERROR' ? { message: row.meaning } : {}),
      timestamp: this.formatTimestamp(new Date(this.#now())),
      service: serviceName,
      code: registered,
    };
    const named = namedIn(Object.keys(row.fields), fields).map(([name, value]) => {
      return [name, admit(row.fields[name] ?? 'word', value)] as const;
    });
    const attributes: LogAttributes = Object.fromEntries<unknown>([
      ...lineMembers.map((name) => [name, line[name]] as const),
      ...named,
    ]);
    return new LogItem({
      attributes: { ...attributes, ...this.#measure(attributes, figuresOf(registered, row, attributes)) },
    });
  }

  /** Returns the members by which CloudWatch counts a line or takes a field of it (embedded metric format). */
  #measure(line: LogAttributes, figures: readonly Figure[]): LogAttributes {
    if (figures.length === 0) return {};
    return {
      stage: this.#stage(),
      ...Object.fromEntries(figures.map(({ name, value }) => [name, value === undefined ? 1 : line[value]])),
      _aws: {
        Timestamp: this.#now(),
        CloudWatchMetrics: [...Map.groupBy(figures, ({ dimensions }) => dimensions.join(' ')).values()].map(
          (own) => ({
            Namespace: METRIC_NAMESPACE,
            Dimensions: [own[0]?.dimensions],
            Metrics: own.map(({ name, unit }) => ({ Name: name, Unit: unit })),
          }),
        ),
      },
    };
  }
}

/** Returns the figures of a line: its code if that is counted, those of its row, and a fault of a published version. */
function figuresOf(code: LogCodeName, row: LogCode, line: LogAttributes): readonly Figure[] {
  const { blames, figures = [] } = row;
  const isPublished = /^\d+$/.test(String(line['function_version']));
  return [
    ...(blames === undefined ? [] : [{ name: code, unit: 'Count', dimensions: ['stage'] } as const]),
    ...figures.filter((figure) => isTaken(figure, line)),
    ...(blames === 'release' && isPublished ? [RELEASE_FAULTS] : []),
  ];
}

/** Returns whether a line has the value of a figure and every dimension but the stage, which all lines with figures have. */
function isTaken({ value, when, dimensions }: Figure, line: LogAttributes): boolean {
  return (
    (value === undefined || typeof line[value] === 'number') &&
    (when === undefined || line[when] === true) &&
    dimensions.every((name) => name === 'stage' || isNamed(line[name]))
  );
}

/** A redacted value would be a dimension that hides which one it is. */
function isNamed(value: unknown): boolean {
  return typeof value === 'string' && value !== REDACTED && value !== '';
}

const REDACTED = '[redacted]';
const WORD = /^[\x20-\x7e]{0,200}$/;
/** A compact JWS or JWE, or any text that contains one. */
const TOKEN = /eyJ[\w-]*\.|bearer /i;

/** Returns the part of a value that a field's kind admits. The rest is replaced, never written. */
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
        ? value
            .slice(0, 500)
            .map((entry: unknown) =>
              typeof entry === 'object' && entry !== null ? admitMembers(kind, entry) : REDACTED,
            )
        : REDACTED;
  }
}

/** Returns the named members of a value, each a word, a number or a boolean. */
function admitMembers(names: readonly string[], value: unknown): LogAttributes {
  return Object.fromEntries(
    namedIn(names, value).map(([name, member]) => [name, admit(kindOf(member), member)]),
  );
}

/** Returns the only kind that could admit the value of a list entry. */
function kindOf(value: unknown): FieldKind {
  const kind = typeof value;
  return kind === 'number' || kind === 'boolean' ? kind : 'word';
}

function namedIn(names: readonly string[], value: unknown): readonly (readonly [string, unknown])[] {
  const members = new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  return names.map((name) => [name, members.get(name)] as const).filter(([, member]) => member !== undefined);
}
