import { describe, expect, it } from 'vitest';
import { instantiateSeed } from '#local/seeds/instantiate.ts';
import { routes } from '#shared/contract/routes.ts';
import { plain } from '#tools/terminal/paint.ts';
import { shellWord } from '#tools/terminal/shell-word.ts';
import { soundSeed } from '#test/support/sound-seed.ts';
import { exampleRequest } from './example-request.ts';
import { renderJson } from './render-json.ts';

const { fixtures } = instantiateSeed(await soundSeed(), 'tenant-aurora');
const saved = {
  adaptive: { continuationToken: 'a..b.c.d', etag: '"e"', deliverySessionId: null },
  improvement: { improvementRunId: 'run_1' },
};

describe('exampleRequest', () => {
  it.each(routes)('has a valid example of everything that $operationId needs', (route) => {
    const { missing, path, body, ifMatch } = exampleRequest(route, fixtures, saved);
    expect(missing).toStrictEqual([]);
    expect(route.request.path.safeParse(path).error).toBeUndefined();
    expect(route.request.body?.safeParse(JSON.parse(body ?? '')).error).toBeUndefined();
    expect(ifMatch !== undefined).toBe(route.request.ifMatch);
  });

  it('names what only a saved run has', () => {
    const missing = routes.flatMap((route) => exampleRequest(route, fixtures, {}).missing);
    expect([...new Set(missing)]).toStrictEqual(['body', 'improvementRunId']);
  });
});

describe('the terminal', () => {
  it('quotes a word for the shell only where it must', () => {
    expect(['a/b-1.json', 'my file', "it's", ''].map(shellWord)).toStrictEqual([
      'a/b-1.json',
      "'my file'",
      "'it'\\''s'",
      "''",
    ]);
  });

  it('paints names and values of JSON, and shows no control character', () => {
    const value = { name: 'a "b": 1', list: [1.5, true, null], 'c\u009b': '\u202e' };
    expect(JSON.parse(renderJson(value, plain))).toStrictEqual({
      name: 'a "b": 1',
      list: [1.5, true, null],
      'c\ufffd': '\ufffd',
    });
    const painted = renderJson(value, (style, text) => `<${String(style)} ${text}>`);
    expect(painted.split('\n').slice(1, 4)).toStrictEqual([
      '  <cyan "name">: <green "a \\"b\\": 1">,',
      '  <cyan "list">: [',
      '    <yellow 1.5>,',
    ]);
  });
});
