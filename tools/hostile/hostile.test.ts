import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { builtIn, CANARY, groups, wire, type Base } from './cases.ts';
import { publishedRequests } from './published-requests.ts';
import type { Reply } from './send.ts';
import { differenceOf } from './try-cases.ts';
import { readVectors } from './vectors.ts';

const base: Base = {
  operationId: 'startAdaptiveRun',
  method: 'POST',
  target: '/v1/adaptive-runs',
  host: 'localhost',
  headers: { Authorization: 'Bearer e30.e30.x', 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
  body: '{"continuationToken":"e30..x.y.z","b":{"c":1}}',
};
const json = builtIn.find(({ name }) => name === 'cut off in the middle')!;
const raw = builtIn.find(({ name }) => name === 'two tokens')!;

describe('a reply differs', () => {
  const sound: Reply = {
    status: 400,
    headers: new Map([['content-type', 'application/problem+json']]),
    body: '{"type":"x","status":400}',
    raw: '',
    isSilent: false,
  };
  it.each([
    [undefined, sound],
    ['500 instead of 400', { ...sound, status: 500 }],
    ['closed instead of 400', { ...sound, status: undefined }],
    ['400 without a problem document', { ...sound, headers: new Map<string, string>() }],
    ['400 with a malformed problem document', { ...sound, body: '{' }],
    ['400 with a problem of status 404', { ...sound, body: '{"type":"x","status":404}' }],
    ['the response repeats what was sent', { ...sound, raw: CANARY }],
    ['no answer, and an open connection', { ...sound, status: undefined, isSilent: true }],
    ['an answer that does not end', { ...sound, isSilent: true }],
  ])('%s', (difference, reply) => {
    expect(differenceOf(json, reply, 201)).toBe(difference);
  });

  it('unless the server in front of the service may give it', () => {
    expect(differenceOf(raw, { ...sound, headers: new Map<string, string>() }, 201)).toBeUndefined();
    expect(differenceOf(raw, { ...sound, status: undefined }, 201)).toBeUndefined();
  });
});

it('every case has bytes of its own that are not the sound request', () => {
  const sent = builtIn
    .filter(({ name }) => name !== 'a body for a route that has none' && name !== 'one byte at a time')
    .map((one) => Buffer.concat(one.bytes(base) ?? []).toString('latin1'));
  expect(new Set([...sent, wire(base).toString('latin1')]).size).toBe(sent.length + 1);
  expect(new Set(builtIn.map(({ group }) => group))).toEqual(new Set(groups));
});

it('requests to a deployed stage keep its base path and name nothing that it has', () => {
  const requests = publishedRequests('https://api.example/prod', 'reports', 'token');
  for (const { address, base: one } of requests) {
    expect(one.target).toBe(address.pathname);
    expect(one.target).toMatch(/^\/prod\/v1\/[^{}]+$/);
    expect(one.headers).toMatchObject({ Authorization: 'Bearer token' });
  }
  expect(requests.map(({ base: { target } }) => target).join()).toContain('no-such-attemptId');
});

describe('public vectors', () => {
  let folder = '';
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are found below a folder, in the forms in which they are published', () => {
    folder = mkdtempSync(join(tmpdir(), 'vectors-'));
    const write = (path: string, text: string): void => {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    write('suite/test_parsing/n_array_comma.json', '[1,,]');
    write(
      'proof/json_web_encryption_test.json',
      '{"testGroups":[{"comment":"g","tests":[{"tcId":1,"comment":"c","jwe":"a.b.c.d.e"}]}]}',
    );
    write('jcs/input/one.json', '{"b":1.0,"a":"\\u00e9"}');
    write('jcs/output/one.json', '{"a":"é","b":1}');
    write('jcs/input/two.json', '{"b":1,"a":2}');
    write('jcs/output/two.json', '{"b":1,"a":2}');
    const { cases, inProcess } = readVectors(folder);
    expect(cases.map(({ name }) => name)).toEqual([
      'n_array_comma.json',
      'json_web_encryption_test.json 1 g, c',
      'continuation: json_web_encryption_test.json 1 g, c',
    ]);
    expect(cases[0]?.bytes(base)?.[0]?.toString()).toContain('\r\n\r\n[1,,]');
    expect(inProcess).toEqual([
      { name: 'one.json', passed: true },
      { name: 'two.json', passed: false },
    ]);
  });
});
