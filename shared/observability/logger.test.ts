import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeError } from './describe-error.ts';
import { logCodes, type LogCodeName, type LogLevel } from './log-codes.ts';
import { lineMembers } from './line-formatter.ts';
import { createFunctionLog, parseLogLevel, type LogFields, type OpenLog } from './logger.ts';

/** The log of a new container, with the lines that it writes. */
function container(
  level: LogLevel = 'debug',
  version = '$LATEST',
): { readonly openLog: OpenLog; readonly lines: string[] } {
  const lines: string[] = [];
  const openLog = createFunctionLog(
    { service: 'mastery', operationId: 'startAdaptiveRun' },
    {
      write: (line) => lines.push(line),
      now: () => Date.UTC(2026, 0, 31, 9, 30),
      environment: { LOG_LEVEL: level, AWS_LAMBDA_FUNCTION_VERSION: version },
    },
  );
  return { openLog, lines };
}

function logOnce(code: string, fields?: LogFields, level?: LogLevel): string[] {
  const { openLog, lines } = container(level);
  openLog({ awsRequestId: 'f-1' }, 'r-1')(code as LogCodeName, fields);
  return lines;
}

const parsed = (lines: readonly string[]): readonly Readonly<Record<string, unknown>>[] =>
  lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const TRACE = '1-697dd2a8-0123456789abcdef01234567';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('log lines', () => {
  it('are one JSON object a line, with time, level, code and the request’s context, named as Powertools does', () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
    vi.stubEnv('_X_AMZN_TRACE_ID', `Root=${TRACE};Parent=0123456789abcdef;Sampled=1`);
    const [line] = logOnce('REQUEST_COMPLETED', { status: 201, durationMs: 12 });
    expect(line?.endsWith('\n')).toBe(true);
    const members = JSON.parse(line ?? '') as Record<string, unknown>;
    expect(members).toEqual({
      level: 'INFO',
      timestamp: '2026-01-31T09:30:00.000Z',
      service: 'mastery',
      cold_start: true,
      function_request_id: 'f-1',
      function_version: '$LATEST',
      xray_trace_id: TRACE,
      code: 'REQUEST_COMPLETED',
      operation: 'startAdaptiveRun',
      requestId: 'r-1',
      status: 201,
      durationMs: 12,
      ...{ Requests: 1, Latency: 12, _aws: expect.anything() as unknown },
    });
    expect(Object.keys(members)).toEqual([
      ...lineMembers.filter((name) => name !== 'message'),
      ...['status', 'durationMs'],
      ...['Requests', 'Latency', '_aws'],
    ]);
  });

  it('are counted, and by version where a published version logs a fault of the release', () => {
    const { openLog, lines } = container('debug', '42');
    const log = openLog({ awsRequestId: 'f-1' });
    log('REQUEST_FAILED', { error: 'TypeError' });
    log('REQUEST_COMPLETED', { status: 201 });
    const [failed, completed] = parsed(lines);
    expect(failed).toMatchObject({
      operation: 'startAdaptiveRun',
      function_version: '42',
      REQUEST_FAILED: 1,
      ReleaseFaults: 1,
      _aws: {
        CloudWatchMetrics: [
          {
            Namespace: 'mastery-reports',
            Dimensions: [['stage']],
            Metrics: [{ Name: 'REQUEST_FAILED', Unit: 'Count' }],
          },
          {
            Namespace: 'mastery-reports',
            Dimensions: [['stage', 'operation', 'function_version']],
            Metrics: [{ Name: 'ReleaseFaults', Unit: 'Count' }],
          },
        ],
      },
    });
    expect(completed).not.toHaveProperty('ReleaseFaults');
    const [local] = parsed(logOnce('REQUEST_FAILED'));
    expect(local).not.toHaveProperty('ReleaseFaults');
  });

  it('belong to the request that writes them, also late, and only the first one of a container is a cold start', () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
    vi.stubEnv('_X_AMZN_TRACE_ID', `Root=${TRACE}`);
    const { openLog, lines } = container();
    const first = openLog({ awsRequestId: 'f-1' }, 'r-1');
    first('REQUEST_FAILED', { error: 'TypeError', frames: ['a.ts:1:1'] });
    vi.stubEnv('_X_AMZN_TRACE_ID', `Root=${TRACE.replaceAll('0', 'f')}`);
    const second = openLog({ awsRequestId: 'f-2' }, 'r-2');
    second('REQUEST_STARTED');
    first('REQUEST_COMPLETED', { status: 200 });
    const [failed, started, completed] = parsed(lines);
    const ofFirst = {
      requestId: 'r-1',
      function_request_id: 'f-1',
      cold_start: true,
      xray_trace_id: TRACE,
    };
    expect(failed).toMatchObject(ofFirst);
    expect(completed).toMatchObject(ofFirst);
    expect(completed).not.toHaveProperty('error');
    expect(started).toMatchObject({
      requestId: 'r-2',
      function_request_id: 'f-2',
      cold_start: false,
      xray_trace_id: TRACE.replaceAll('0', 'f'),
    });
    expect(started).not.toHaveProperty('error');
  });

  it('hold no trace id but one of X-Ray’s own form: a caller may send the header [MA-007]', () => {
    for (const value of ['canary', 'Root=canary', `Root=${TRACE}canary;Sampled=1`, `Self=${TRACE}`]) {
      vi.stubEnv('_X_AMZN_TRACE_ID', value);
      const [line] = logOnce('REQUEST_STARTED');
      expect(line).not.toContain('canary');
      expect(line).not.toContain('xray_trace_id');
    }
  });

  it.each([
    ['POWERTOOLS_LOGGER_LOG_EVENT', 'true'],
    ['POWERTOOLS_LOGGER_LOG_EVENT', '1'],
    ['POWERTOOLS_LOGGER_SAMPLE_RATE', '1'],
    ['POWERTOOLS_LOGGER_SAMPLE_RATE', 'always'],
    ['POWERTOOLS_DEV', 'true'],
    ['POWERTOOLS_LOG_LEVEL', 'DEBUG'],
    ['POWERTOOLS_SERVICE_NAME', 'canary'],
    ['LOG_LEVEL', 'DEBUG'],
    ['AWS_LAMBDA_LOG_LEVEL', 'FATAL'],
    ['AWS_LAMBDA_LOG_LEVEL', 'TRACE'],
    ['ENVIRONMENT', 'canary'],
  ])('are the same when the process sets %s to %s [MA-007]', (name, value) => {
    const streams = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((method) =>
      vi.spyOn(console, method),
    );
    const write = (): string[] => {
      const { openLog, lines } = container('warn');
      const log = openLog({ awsRequestId: 'f-1' }, 'r-1');
      log('REQUEST_STARTED', { method: 'GET' });
      log('TOKEN_REFUSED', { reason: 'expired' });
      log('UPSTREAM_FAILED', { owner: 'qti', retryable: true });
      log('REQUEST_FAILED', { ...describeError(new Error('canary', { cause: 'canary' })), frames: [] });
      return lines;
    };
    const plain = write();
    expect(plain).toHaveLength(3);
    vi.stubEnv(name, value);
    expect(write()).toEqual(plain);
    for (const spy of [...streams, ...consoles]) expect(spy).not.toHaveBeenCalled();
  });

  it('hold only what their row names: an undeclared field cannot be written [MA-007]', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(logCodes)),
        fc.dictionary(fc.string({ minLength: 1 }), fc.constant('canary-1f6e')),
        (code, fields) => {
          const declared = new Set(Object.values(logCodes).flatMap((row) => Object.keys(row.fields)));
          const undeclared = Object.fromEntries(
            Object.entries(fields).filter(([name]) => !declared.has(name)),
          );
          for (const line of logOnce(code, { ...undeclared, event: 'canary-1f6e', body: 'canary-1f6e' }))
            expect(line).not.toContain('canary-1f6e');
        },
      ),
    );
  });

  it('replace a token, a nested value and a text that is no word in any field [MA-007]', () => {
    const token = 'eyJhbGciOiJkaXIifQ..48V1_ALb6US04U3b.5eym8TW_c8SuK0.XFBoMYUZodetZdvT';
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(logCodes)),
        fc.constantFrom<unknown>(
          token,
          `Bearer ${token}`,
          { secret: token },
          [[token]],
          'é',
          'a\nb',
          'x'.repeat(201),
          NaN,
        ),
        (code, value) => {
          const row = logCodes[code as keyof typeof logCodes];
          const fields = Object.fromEntries(
            Object.entries(row.fields).flatMap(([name, kind]) =>
              typeof kind === 'string'
                ? [[name, kind === 'words' ? [value] : (value as string)]]
                : [[name, [{ operation: value, intruder: token }]]],
            ),
          ) as LogFields;
          for (const line of logOnce(code, fields)) {
            expect(line).not.toContain('48V1_ALb6US04U3b');
            expect(line).not.toContain('é');
            expect(line.split('\n')).toHaveLength(2);
            expect(line).not.toContain('xxx');
          }
        },
      ),
    );
  });

  it('keep STARTED and COMPLETED at every level, and drop what is below the level', () => {
    expect(logOnce('REQUEST_STARTED', { method: 'GET' }, 'error')).toHaveLength(1);
    expect(logOnce('REQUEST_COMPLETED', {}, 'error')).toHaveLength(1);
    expect(logOnce('RELEASE_WITHDRAWN', { missing: ['C'] }, 'error')).toHaveLength(1);
    expect(logOnce('TOKEN_REFUSED', { reason: 'expired' }, 'warn')).toHaveLength(0);
    expect(logOnce('TOKEN_REFUSED', { reason: 'expired' }, 'info')).toHaveLength(1);
  });

  it('have a level even where LOG_LEVEL is nonsense', () => {
    expect(['debug', 'WARN', 'loud', undefined, 'toString'].map(parseLogLevel)).toEqual([
      'debug',
      'warn',
      'info',
      'info',
      'info',
    ]);
  });
});

describe('a thrown value in a log', () => {
  it('is its name, its causes’ names and positions: nothing of a body that its message, cause or stack quotes [MA-007, MA-224]', () => {
    const body = 'canary\n    at canary (file:///canary.ts:1:1)\n';
    const cause = syntaxErrorOf(body);
    expect(cause.message).toContain('canary');
    const quoting = new Error(`cannot read ${body}`, { cause });
    const emptied = new Error(body);
    emptied.message = '';
    const restacked = new Error('x');
    restacked.stack = `${body}\n    at canary (file:///canary.ts:1:1)`;
    const wrapped = new AggregateError([cause, quoting], body, { cause: { body } });
    for (const thrown of [quoting, emptied, restacked, wrapped, cause, body, { body }]) {
      const lines = [
        // As a function describes it, and as a careless one would hand it over.
        ...logOnce('REQUEST_FAILED', { ...describeError(thrown) }),
        ...logOnce('REQUEST_FAILED', { error: thrown, causes: [thrown], frames: thrown } as never),
        ...logOnce('REQUEST_FAILED', thrown as never),
        ...logOnce('RUN_RECEIPT', { trace: [{ operation: thrown, ...(thrown as object) }] }),
      ];
      expect(lines).toHaveLength(4);
      for (const line of lines) expect(line).not.toContain('canary');
    }
    expect(describeError(quoting)).toEqual({
      error: 'Error',
      causes: ['SyntaxError'],
      frames: expect.arrayContaining([expect.stringContaining('logger.test.ts')]) as string[],
    });
  });
});

/** What JSON.parse throws for a text: its message quotes the text. */
function syntaxErrorOf(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the text is JSON');
}
