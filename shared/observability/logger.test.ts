import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeError } from './describe-error.ts';
import { logCodes } from './log-codes.ts';
import { createLogger, parseLogLevel } from './logger.ts';
import type { LogFields } from './logger.ts';
import type { LogCodeName, LogLevel } from './log-codes.ts';

function logOnce(code: string, fields?: LogFields, level: LogLevel = 'debug'): string[] {
  const lines: string[] = [];
  const log = createLogger({
    write: (line) => lines.push(line),
    now: () => Date.UTC(2026, 0, 31, 9, 30),
    level,
    context: { service: 'mastery', operation: 'startAdaptiveRun', requestId: 'r-1' },
  });
  // Also codes that no typed caller could write.
  log(code as LogCodeName, fields);
  return lines;
}

describe('log lines', () => {
  it('are one JSON object a line, with time, level, code and the request’s context', () => {
    const [line] = logOnce('REQUEST_COMPLETED', { status: 201, durationMs: 12, coldStart: true });
    expect(line?.endsWith('\n')).toBe(true);
    expect(JSON.parse(line ?? '')).toEqual({
      timestamp: '2026-01-31T09:30:00.000Z',
      level: 'info',
      code: 'REQUEST_COMPLETED',
      message: 'The answer to a request was handed to the gateway.',
      service: 'mastery',
      operation: 'startAdaptiveRun',
      requestId: 'r-1',
      status: 201,
      durationMs: 12,
      coldStart: true,
    });
  });

  it('hold only what their row names: an undeclared field cannot be written [MA-007]', () => {
    const names = Object.keys(logCodes);
    fc.assert(
      fc.property(
        fc.constantFrom(...names, 'NOT_A_CODE', '__proto__', 'toString'),
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

  it('write a trace entry member by member', () => {
    const [line] = logOnce('RUN_RECEIPT', {
      receiptId: 'abc',
      trace: [{ operation: 'qti.read_candidate_runtime', status: 200, version: '"v1"', learner: 'canary' }],
    });
    expect(JSON.parse(line ?? '')).toMatchObject({
      receiptId: 'abc',
      trace: [{ operation: 'qti.read_candidate_runtime', status: 200, version: '"v1"' }],
    });
    expect(line).not.toContain('canary');
  });

  it('say that a code is not registered instead of throwing', () => {
    expect(JSON.parse(logOnce('NOPE', { status: 1 })[0] ?? '')).toMatchObject({
      code: 'LOG_CODE_UNKNOWN',
      level: 'error',
    });
  });

  it('keep STARTED and COMPLETED at every level, and drop what is below the level', () => {
    expect(logOnce('REQUEST_STARTED', { method: 'GET' }, 'error')).toHaveLength(1);
    expect(logOnce('REQUEST_COMPLETED', {}, 'error')).toHaveLength(1);
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
  it('is its name, its causes’ names and positions, never a message [MA-224]', () => {
    const error = new TypeError('quotes canary\n    at canary (file:///canary.ts:1:1)', {
      cause: new SyntaxError('canary', { cause: 'canary' }),
    });
    const described = describeError(error);
    expect(described).toMatchObject({ error: 'TypeError', causes: ['SyntaxError', 'string'] });
    expect(described.frames.length).toBeGreaterThan(0);
    expect(described.frames[0]).toContain('logger.test.ts');
    expect(JSON.stringify(described)).not.toContain('canary');
  });

  it('need not be an error, nor have an honest name', () => {
    const error = new Error('x');
    error.name = 'canary with spaces';
    expect(describeError(error).error).toBe('Error');
    expect(describeError('canary')).toEqual({ error: 'string', causes: [], frames: [] });
  });
});
