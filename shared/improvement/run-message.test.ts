import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRunMessage, writeRunMessage } from './run-message.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1 });

describe('the message that names a run', () => {
  it('is read back as it was written, in characters that every queue takes', () => {
    fc.assert(
      fc.property(name, name, (tenantId, improvementRunId) => {
        const body = writeRunMessage({ tenantId, improvementRunId });
        expect(body).toMatch(/^[\x20-\x7e]+$/);
        expect(parseRunMessage(body)).toEqual({ tenantId, improvementRunId });
      }),
    );
    const awkward = { tenantId: 'ü"\\\uffff\u0000😀', improvementRunId: 'run_1' };
    expect(parseRunMessage(writeRunMessage(awkward))).toEqual(awkward);
  });

  it('holds the two ids of a run and nothing else of whoever sends it', () => {
    const run = { tenantId: 't', improvementRunId: 'run_1', administrationId: 'a', state: 'queued' };
    expect(writeRunMessage(run)).toBe('{"tenantId":"t","improvementRunId":"run_1"}');
  });

  it.each([
    '',
    'null',
    '[]',
    '{"tenantId":"t"}',
    '{"tenantId":"t","improvementRunId":""}',
    '{"tenantId":"","improvementRunId":"r"}',
    '{"tenantId":"t","improvementRunId":1}',
    '{"tenantId":"t","improvementRunId":"r","more":1}',
    '{"tenantId":"t","tenantId":"u","improvementRunId":"r"}',
    '{"tenantId":"\\ud800","improvementRunId":"r"}',
  ])('is not %j', (body) => {
    expect(parseRunMessage(body)).toBeUndefined();
  });
});
