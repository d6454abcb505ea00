import type { ServiceName } from '#shared/contract/route.ts';
import { problemRows } from '#shared/problems/registry.ts';
import type { ProblemRow } from '#shared/problems/registry.ts';
import { problemExample } from '#shared/openapi/problem-examples.ts';

/** The page that `Link: …; rel="deprecation"` names. */
const deprecationPage = 'deprecation';

const serviceNames: Readonly<Record<ServiceName, string>> = {
  mastery: 'Adaptive mastery engine',
  reports: 'Reports service',
};

/**
 * The documentation site of problem types as complete HTML pages without scripts, by the last segment of their address: one page a code
 * (both services share it where their codes coincide), `deprecation`, and `index`. Made of the problem registry alone.
 */
export function renderProblemPages(): ReadonlyMap<string, string> {
  const byCode = new Map<string, ProblemRow[]>();
  for (const row of problemRows) byCode.set(row.code, [...(byCode.get(row.code) ?? []), row]);
  const codes = [...byCode.keys()].sort();
  return new Map([
    ...codes.map((code): [string, string] => [code, problemPage(code, byCode.get(code) ?? [])]),
    [deprecationPage, deprecation()],
    ['index', index(codes.map((code) => ({ code, rows: byCode.get(code) ?? [] })))],
  ]);
}

function problemPage(code: string, rows: readonly ProblemRow[]): string {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([row.status, row.title, row.meaning, row.cause, row.remedy]),
  );
  const sections = [...groups.values()].map((group) => section(group, groups.size > 1));
  const titles = [...new Set(rows.map((row) => row.title))];
  return page(titles.length === 1 ? (titles[0] ?? code) : humanized(code), [
    `<p class="code"><code>${escape(code)}</code></p>`,
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
  return [
    '<section>',
    ...(titled ? [`<h2>${first.status}: ${escape(first.title)}</h2>`] : []),
    `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${prose(value)}</dd>`).join('')}</dl>`,
    `<h3>What happened</h3><p>${prose(first.meaning)}</p>`,
    `<h3>Why</h3><p>${prose(first.cause)}</p>`,
    `<h3>What to do</h3><p>${prose(first.remedy)}</p>`,
    ...rows.map((row) => example(row, rows.length > 1)),
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

function example(row: ProblemRow, named: boolean): string {
  const body = JSON.stringify(problemExample(row), null, 2);
  return [
    `<h3>Example${named ? `, ${serviceNames[row.service]}` : ''}</h3>`,
    `<pre>HTTP/1.1 ${row.status}\nContent-Type: application/problem+json\n\n${escape(body)}</pre>`,
  ].join('\n');
}

function deprecation(): string {
  return page('Deprecated versions', [
    '<section>',
    '<p>An answer with a <code>Deprecation</code> header is about a selection policy or a scale calibration that its owner advises against using for anything new. The answer means what it always meant, and runs that are pinned to the version go on.</p>',
    '<h3>The headers</h3>',
    '<dl><dt>Deprecation</dt><dd><code>@</code> and seconds since 1970 (RFC 9745): the time of the deprecation, which may lie ahead.</dd>',
    '<dt>Sunset</dt><dd>An HTTP date (RFC 8594), never before the deprecation: when the version will be withdrawn. Absent while no withdrawal is planned.</dd></dl>',
    '<h3>What to do</h3><p>Ask the owner of the version for its successor, and start new runs with that. Versions are immutable: a successor has another id and another checksum.</p>',
    '</section>',
  ]);
}

function index(pages: readonly { readonly code: string; readonly rows: readonly ProblemRow[] }[]): string {
  const rows = pages.map(({ code, rows: of }) => {
    const statuses = [...new Set(of.map((row) => row.status))].join(', ');
    const services = [...new Set(of.map((row) => serviceNames[row.service]))].join(', ');
    return `<tr><td>${statuses}</td><td><a href="${code}.html"><code>${escape(code)}</code></a></td><td>${escape(services)}</td></tr>`;
  });
  return page('Problem types', [
    '<p>Every failure is a problem document (RFC 9457). Its <code>type</code> is the address of one of these pages.</p>',
    `<table><thead><tr><th>Status</th><th>Problem</th><th>Service</th></tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table>`,
    `<p>See also <a href="${deprecationPage}.html">deprecated versions</a>.</p>`,
  ]);
}

const style = `
:root { color-scheme: light dark }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem }
h1 { line-height: 1.2; margin-bottom: .25rem }
h3 { margin: 1.5rem 0 .25rem }
h3 + p { margin-top: 0 }
.code { margin-top: 0; opacity: .75 }
.note { margin-top: 2.5rem; font-size: .9rem; opacity: .75 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem }
dt { font-weight: 600 }
dd { margin: 0 }
pre, code { font-family: ui-monospace, monospace; font-size: .9em }
pre { padding: 1rem; overflow-x: auto; border: 1px solid #8886; border-radius: .4rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8884 }
`.trim();

function page(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>
${style}
</style>
</head>
<body>
<h1>${escape(title)}</h1>
${parts.join('\n')}
</body>
</html>
`;
}

/** Registry text as HTML: escaped, with \`code\` in code elements. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
