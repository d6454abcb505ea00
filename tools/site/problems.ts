import type { ServiceName } from '#shared/contract/route.ts';
import { problemRows, type ProblemRow } from '#shared/problems/registry.ts';
import { problemExample } from '#shared/openapi/problem-examples.ts';
import { escaped } from './sources.ts';

/** The page that `Link: …; rel="deprecation"` names. */
const deprecationPage = 'deprecation';

const serviceNames: Readonly<Record<ServiceName, string>> = {
  mastery: 'Adaptive mastery engine',
  reports: 'Reports service',
};

/** The content of a page as HTML, below its title. */
export interface ProblemPage {
  readonly title: string;
  readonly body: string;
}

/**
 * The pages of the problem types by the last segment of their address: one page per code (both services share it where their codes
 * coincide), and `deprecation`. Made only of the problem registry.
 */
export function problemPages(): ReadonlyMap<string, ProblemPage> {
  return new Map([
    ...[...byCode()].map(([code, rows]): [string, ProblemPage] => [code, problemPage(code, rows)]),
    [deprecationPage, deprecation()],
  ]);
}

/** The rows of each code, in the order of the codes. */
function byCode(): ReadonlyMap<string, readonly ProblemRow[]> {
  return new Map([...Map.groupBy(problemRows, ({ code }) => code)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function problemPage(code: string, rows: readonly ProblemRow[]): ProblemPage {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([row.status, row.title, row.meaning, row.cause, row.remedy]),
  );
  const sections = [...groups.values()].map((group) => section(group, groups.size > 1));
  const titles = [...new Set(rows.map((row) => row.title))];
  return page(titles.length === 1 ? (titles[0] ?? code) : humanized(code), [
    `<p class="code"><code>${escaped(code)}</code></p>`,
    ...sections,
    `<p class="note">The meaning of this type never changes; this page may grow. Branch on ${branchesOn(rows)}, never on the title.</p>`,
  ]);
}

/** `stream-conflict` as `Stream conflict`. */
function humanized(code: string): string {
  const words = code.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function branchesOn(rows: readonly ProblemRow[]): string {
  const services = new Set(rows.map((row) => row.service));
  const parts = [
    ...(services.has('mastery') ? ['<code>code</code> (adaptive mastery engine)'] : []),
    ...(services.has('reports') ? ['<code>type</code> (reports service)'] : []),
  ];
  return parts.join(' or ');
}

/** Rows that differ in nothing but their service. */
function section(rows: readonly ProblemRow[], titled: boolean): string {
  const [first] = rows;
  if (first === undefined) return '';
  const facts: readonly (readonly [string, string])[] = [
    ['Service', rows.map((row) => serviceNames[row.service]).join(', ')],
    ['Status', String(first.status)],
    ['Retry', retry(first)],
  ];
  const heading = titled ? 'h3' : 'h2';
  return [
    '<section>',
    ...(titled ? [`<h2>${first.status}: ${escaped(first.title)}</h2>`] : []),
    `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${prose(value)}</dd>`).join('')}</dl>`,
    `<${heading}>What happened</${heading}><p>${prose(first.meaning)}</p>`,
    `<${heading}>Why</${heading}><p>${prose(first.cause)}</p>`,
    `<${heading}>What to do</${heading}><p>${prose(first.remedy)}</p>`,
    ...rows.map((row) => example(row, heading, rows.length > 1)),
    '</section>',
  ].join('\n');
}

function retry(row: ProblemRow): string {
  const wait =
    row.retryAfterSeconds === undefined
      ? ''
      : `, not before Retry-After (usually ${row.retryAfterSeconds} s)`;
  switch (row.retryable) {
    case true:
      return `yes${wait}`;
    case false:
      return 'no: the same request fails again';
    case 'occurrence':
      return `when \`retryable\` is true${wait}`;
  }
}

function example(row: ProblemRow, heading: 'h2' | 'h3', named: boolean): string {
  const body = JSON.stringify(problemExample(row), null, 2);
  return [
    `<${heading}>Example${named ? `, ${serviceNames[row.service]}` : ''}</${heading}>`,
    `<pre tabindex="0">HTTP/1.1 ${row.status}\nContent-Type: application/problem+json\n\n${escaped(body)}</pre>`,
  ].join('\n');
}

function deprecation(): ProblemPage {
  return page('Deprecated versions', [
    '<section>',
    '<p>An answer with a <code>Deprecation</code> header is about a selection policy or a scale calibration that its owner advises against using for anything new. The answer means what it always meant, and runs that are pinned to the version go on.</p>',
    '<h2>The headers</h2>',
    '<dl><dt>Deprecation</dt><dd><code>@</code> and seconds since 1970 (RFC 9745): the time of the deprecation, which may lie ahead.</dd>',
    '<dt>Sunset</dt><dd>An HTTP date (RFC 8594), never before the deprecation: when the version will be withdrawn. Absent while no withdrawal is planned.</dd></dl>',
    '<h2>What to do</h2><p>Ask the owner of the version for its successor, and start new runs with that. Versions are immutable: a successor has another id and another checksum.</p>',
    '</section>',
  ]);
}

/** The table of the problem types for `docs/problems.md`, as Markdown: one line per code and service. */
export function renderProblemTypes(): string {
  const lines = [...byCode().values()].flatMap((rows) =>
    rows.map(
      (row) =>
        `| \`${row.code}\` | ${row.status} | ${serviceNames[row.service]} | ${row.title} | ${retry(row)} |`,
    ),
  );
  return ['| Problem | Status | Service | Title | Retry |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}

function page(title: string, parts: readonly string[]): ProblemPage {
  return { title, body: parts.join('\n') };
}

/** Registry text as HTML: escaped, with \`code\` in code elements. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
