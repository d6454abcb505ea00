import { readFileSync } from 'node:fs';
import type { ServiceName } from '#shared/contract/route.ts';

/** A request in which servers differ, with what is known of it. */
export interface ParityRow {
  readonly what: string;
  readonly method: string;
  /** Below the base path, as it is sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly withToken: boolean;
  /** What the local gateway returns: the status and the last segment of the problem's type. */
  readonly local: string;
  /** What is known of the real service, and its status; undefined where nothing states it. */
  readonly real: string;
  readonly realStatus: string | undefined;
}

/** What the services name differently: a path with one id, the same with an encoded letter, and two problems. */
const names = {
  mastery: {
    ...{ path: '/v1/selection-policies', encoded: '/v1/%73election-policies' },
    ...{ unknown: 'resource-not-found', malformed: 'invalid-request' },
  },
  reports: {
    ...{ path: '/v1/attempt-reports', encoded: '/v1/%61ttempt-reports' },
    ...{ unknown: 'not-found', malformed: 'validation' },
  },
} as const;

/** Reads the table of docs/parity.md, which is the one place of these facts. */
export function parityRows(service: ServiceName): readonly ParityRow[] {
  const page = readFileSync(new URL('../../docs/parity.md', import.meta.url), 'utf8');
  const filled = Object.entries(names[service]).reduce(
    (text, [name, value]) => text.replaceAll(`{${name}}`, value),
    page,
  );
  const [, , ...rows] = filled.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((line) => {
    const [, what = '', sent = '', local = '', real = ''] = line.split('|').map((cell) => cell.trim());
    const [first = '', ...rest] = Array.from(sent.matchAll(/`([^`]+)`/g), ([, code = '']) => code);
    const [method = '', target = ''] = first.split(' ');
    const fields = rest.map((field): [string, string] => {
      const [name = '', text = ''] = field.split(': ');
      const [unit = '', times = '1'] = text.split('*');
      return [name, unit.repeat(Number(times))];
    });
    const { Body: body, ...headers } = Object.fromEntries(fields);
    const withToken = sent.includes('with the token');
    const realStatus = /^\d{3}/.exec(real)?.[0];
    return {
      what,
      method,
      target,
      headers,
      body,
      withToken,
      local: local.replaceAll('`', ''),
      real,
      realStatus,
    };
  });
}
