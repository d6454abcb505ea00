import { describe, expect, it } from 'vitest';
import { blockedCatalog } from '#test/support/catalog.ts';
import { MAX_CATALOG_BYTES, readCatalog, readJson } from './read.ts';

const text = JSON.stringify(blockedCatalog());
const standard = 'source_assessments/0/tested_standard_inventory/0';

const defectsOf = (from: string | Uint8Array): readonly string[] => {
  const read = readCatalog(typeof from === 'string' ? Buffer.from(from) : from);
  return read.ok ? [] : read.error.map(({ pointer, message }) => `${pointer} ${message}`.trimStart());
};

describe('a catalog from bytes that nobody vouches for', () => {
  it.each([
    ['"schema_version":6', '6.0'],
    ['"dok":2', '2.0'],
    ['"source_dok":2', '20e-1'],
    ['"source_cell_count":4', '4.000'],
    ['"expected_public_row_count":2', '0.2E1'],
    ['"target_value":100', '100.0'],
    ['"create_http_status":503', '503.0'],
  ])('may write the integer of %s as %s [RC-005, RC-024, RC-034, RC-039]', (member, number) => {
    expect(text).toContain(member);
    expect(defectsOf(text.replace(member, member.replace(/\d+$/, number)))).toEqual([]);
  });

  it('never has a member twice, whichever of the two is right', () => {
    const twice = '{"release_state":"ready",';
    expect(defectsOf(text.replace('{', twice))).toEqual(['/release_state has a member name twice']);
    expect(defectsOf(text.replace('"dok":2', '"dok":2,"d\\u006fk":3'))).toEqual([
      `/${standard}/dok has a member name twice`,
    ]);
  });

  it.each([
    ['NaN', text.replace(':503', ':NaN'), /^is not JSON at line 1, column \d+: unexpected N$/],
    ['a comma too many', '{\n "a": 1,\n}', /^is not JSON at line 3, column 1: unexpected }$/],
    ['a byte order mark', `\u{feff}${text}`, /^is not JSON at line 1, column 1: unexpected U\+FEFF$/],
    [
      'a character that steers a terminal',
      '{\u001b[2J}',
      /^is not JSON at line 1, column 2: unexpected U\+001B$/,
    ],
    ['a line break in a string', '{"a\n":1}', /^is not JSON: a string has a line break or another control/],
    ['a million levels without an end', '['.repeat(1_000_000), /^is not JSON, and nested deeper than 64/],
    ['an end that is missing', text.slice(0, -1), /^is not JSON to its end: it is cut off$/],
    ['nothing', '', /^is not JSON to its end: it is cut off$/],
    [
      'a number beyond the doubles',
      text.replace(':503', ':1e999'),
      /^\/release_behavior\/create_http_status has a number .* \(RFC 7493\)$/,
    ],
    [
      'half a character',
      text.replace('river', '\\ud800'),
      /^\/source_assessments\/0\/source_key has a number or a character/,
    ],
    [
      '65 levels',
      text.replace('{', `{"more":${'['.repeat(64)}${']'.repeat(64)},`),
      /^is nested deeper than 64 levels$/,
    ],
    ['a million levels', '['.repeat(1_000_000) + ']'.repeat(1_000_000), /^is nested deeper than 64 levels$/],
    ['another encoding', Buffer.from(text, 'utf16le'), /^is not/],
    [
      'a byte that is no UTF-8',
      Buffer.concat([Buffer.from(text.slice(0, 50)), Buffer.from([0xff])]),
      /^is not UTF-8$/,
    ],
    ['no object', '[]', /^expected object/],
  ])('is refused for %s', (_, from, message) => {
    expect(defectsOf(from)).toEqual([expect.stringMatching(message)]);
  });

  it('is not read beyond its limit', () => {
    const room = MAX_CATALOG_BYTES - Buffer.byteLength(text);
    expect(defectsOf(text + ' '.repeat(room))).toEqual([]);
    expect(defectsOf(text + ' '.repeat(room + 1))).toEqual(['is larger than 16 MiB']);
  });

  it('is not exhausted by a file that is made of defects', () => {
    const full = `[${'{},'.repeat(MAX_CATALOG_BYTES / 100)}{}]`;
    const flood = text.replace(/"bindings":\[/, `"more":0,"bindings":${full},"x":[`);
    const read = readJson(Buffer.from(flood));
    expect(read.ok).toBe(true);
    expect(defectsOf(flood)).toHaveLength(1001);
  });
});
