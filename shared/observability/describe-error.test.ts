import { describe, expect, it } from 'vitest';
import { describeError, nameOf } from './describe-error.ts';

/** An error of which somebody has set what is a text elsewhere. */
function errorWith(change: PropertyDescriptorMap): Error {
  return Object.defineProperties(new Error('message'), change);
}

const throwing = {
  get: (): never => {
    throw new Error('canary');
  },
};

describe('an error that is not made as errors are', () => {
  it.each([
    ['a stack that is no text', errorWith({ stack: { value: 5 } })],
    ['no stack', errorWith({ stack: { value: null } })],
    ['a message that is no text', errorWith({ message: { value: { canary: true } } })],
    ['a name that is a symbol', errorWith({ name: { value: Symbol('canary') } })],
    ['a name that is an object', errorWith({ name: { value: { toString: () => 'canary' } } })],
    ['a cause that cannot be read', errorWith({ cause: throwing })],
    ['a name that cannot be read', errorWith({ name: throwing })],
    ['a cause that is a revoked proxy', new Error('message', { cause: revoked() })],
  ])('%s is described all the same: a request ends with a problem, and not with the error', (_, error) => {
    const described = describeError(error);
    expect(described.error).toBe('Error');
    expect(JSON.stringify(described)).not.toContain('canary');
  });

  it('has a name of its own only where that is a word, and need not be an error', () => {
    expect(nameOf(errorWith({ name: { value: 'canary with spaces' } }))).toBe('Error');
    expect(nameOf(new RangeError('message'))).toBe('RangeError');
    expect(describeError('canary')).toEqual({ error: 'string', causes: [], frames: [] });
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
