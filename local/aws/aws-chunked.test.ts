import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeChunks } from '#local/aws/aws-chunked.ts';

const signature = `;chunk-signature=${'0f'.repeat(32)}`;

function encode(
  chunks: readonly Uint8Array[],
  trailers: Readonly<Record<string, string>>,
  isSigned: boolean,
) {
  const head = (length: number) => `${length.toString(16)}${isSigned ? signature : ''}\r\n`;
  return Buffer.concat([
    ...chunks.flatMap((chunk) => [Buffer.from(head(chunk.length)), chunk, Buffer.from('\r\n')]),
    Buffer.from(head(0)),
    ...Object.entries(trailers).map(([name, value]) => Buffer.from(`${name}:${value}\r\n`)),
    Buffer.from('\r\n'),
  ]);
}

const chunk = fc.uint8Array({ minLength: 1, maxLength: 300 });
const trailers = fc.dictionary(
  fc.stringMatching(/^x-amz-[a-z0-9]{1,8}$/),
  fc.stringMatching(/^[A-Za-z0-9+/=]{1,12}$/),
  { maxKeys: 3 },
);

describe('decodeChunks', () => {
  it('gives back what was encoded, and nothing for a part of it or more than it', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 5 }),
        trailers,
        fc.boolean(),
        fc.nat(),
        (chunks, ends, isSigned, cut) => {
          const body = encode(chunks, ends, isSigned);
          const decoded = decodeChunks(body);
          expect(Buffer.from(decoded?.bytes ?? []).equals(Buffer.concat(chunks))).toBe(true);
          expect(decoded?.trailers).toEqual({ ...ends });
          expect(decodeChunks(body.subarray(0, cut % body.length))).toBeUndefined();
          expect(decodeChunks(Buffer.concat([body, Buffer.from('0')]))).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    '',
    'hello',
    'g\r\n\r\n',
    '5\r\nhello',
    '5\r\nhello0\r\n\r\n',
    '0;other=1\r\n\r\n',
    '0\r\nno colon\r\n\r\n',
    'ffffffff\r\n',
  ])('refuses %j', (body) => {
    expect(decodeChunks(Buffer.from(body))).toBeUndefined();
  });
});
