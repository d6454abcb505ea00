import { describe, expect, it } from 'vitest';
import { toHttpAnswer } from './http-answer.ts';

describe('toHttpAnswer', () => {
  it('takes status, headers and body', () => {
    expect(
      toHttpAnswer({
        statusCode: 201,
        headers: { ETag: '"a"', 'X-Count': 3 },
        multiValueHeaders: { Link: ['<a>', '<b>'] },
        body: '{}',
      }),
    ).toStrictEqual({
      status: 201,
      headers: { 'Content-Type': 'application/json', ETag: '"a"', 'X-Count': '3', Link: ['<a>', '<b>'] },
      body: '{}',
    });
  });

  it('lets the function name the media type in any case', () => {
    expect(
      toHttpAnswer({ statusCode: 404, headers: { 'content-type': 'application/problem+json' } })?.headers,
    ).toStrictEqual({ 'content-type': 'application/problem+json' });
  });

  it('renames WWW-Authenticate and drops the headers of the connection, as a REST API does', () => {
    expect(
      toHttpAnswer({
        statusCode: 401,
        headers: { 'WWW-Authenticate': 'Bearer', 'Content-Length': 1, Connection: 'close' },
      })?.headers,
    ).toStrictEqual({ 'Content-Type': 'application/json', 'x-amzn-Remapped-WWW-Authenticate': 'Bearer' });
  });

  it.each([
    [undefined],
    [null],
    ['text'],
    [[]],
    [{}],
    [{ statusCode: '200' }],
    [{ statusCode: 100 }],
    [{ statusCode: 200.5 }],
    [{ statusCode: 200, body: {} }],
    [{ statusCode: 200, headers: { a: {} } }],
    [{ statusCode: 200, headers: [] }],
    [{ statusCode: 200, multiValueHeaders: { a: 'b' } }],
  ])('refuses %j', (value) => {
    expect(toHttpAnswer(value)).toBeUndefined();
  });
});
