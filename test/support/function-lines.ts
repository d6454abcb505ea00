import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FunctionLogLine } from '#local/stack/function-log.ts';

// What the functions of this process's tests have logged, so that a test that fails can show it (show-function-lines.ts).

const MAX_KEPT = 2_000;
const MAX_REQUESTS = 3;
const MAX_SHOWN = 30;
const MAX_LENGTH = 400;
const project = join(import.meta.dirname, '../..');

let written = 0;
let kept: FunctionLogLine[] = [];

/** Keeps a line that a function has written. */
export function keepLine(line: FunctionLogLine): void {
  written += 1;
  kept.push(line);
  if (kept.length > 2 * MAX_KEPT) kept = kept.slice(-MAX_KEPT);
}

/** How many lines have been written so far. */
export function countLines(): number {
  return written;
}

/**
 * The lines that were written after the first `from`, for a reader who looks for a cause: request by request, those with an error first, then the
 * newest. Undefined if there are none.
 */
export function describeLines(from: number): string | undefined {
  const recent = from === written ? [] : kept.slice(Math.max(0, kept.length - (written - from)));
  if (recent.length === 0) return undefined;
  const byRequest = [...Map.groupBy(recent, requestOf).values()].reverse();
  const requests = byRequest.toSorted((a, b) => Number(b.some(isError)) - Number(a.some(isError)));
  const shown = requests.slice(0, MAX_REQUESTS).flat().slice(0, MAX_SHOWN);
  const rest = recent.length - shown.length;
  return [
    'The functions have logged during this test:',
    ...shown.map((line) => `  ${sentenceOf(line)}`),
    ...(rest === 0 ? [] : [`  and ${rest} more lines`]),
  ].join('\n');
}

type Members = Readonly<Record<string, unknown>>;

function membersOf({ line }: FunctionLogLine): Members {
  return typeof line === 'object' && line !== null ? (line as Members) : { text: line };
}

function requestOf(line: FunctionLogLine): string {
  const { requestId, function_request_id: invocation } = membersOf(line);
  return `${line.function} ${String(requestId ?? invocation)}`;
}

function isError(line: FunctionLogLine): boolean {
  const { level, code } = membersOf(line);
  return level === 'ERROR' || code === undefined;
}

/** Members that are on every line, or that CloudWatch alone reads. */
const common = new Set([
  ...['level', 'message', 'timestamp', 'service', 'cold_start', 'function_request_id', 'function_version'],
  ...['xray_trace_id', 'code', 'operation', 'frames', 'stage', '_aws'],
]);

function sentenceOf(line: FunctionLogLine): string {
  const members = membersOf(line);
  const { level = '', code = '', frames } = members;
  const fields = Object.entries(members)
    .filter(([name, value]) => !common.has(name) && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const places = Array.isArray(frames)
    ? frames.slice(0, 5).map((frame) => `\n      at ${placeOf(String(frame))}`)
    : [];
  const text = [level, line.function, code, ...fields].filter((part) => part !== '').join(' ');
  return (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text) + places.join('');
}

/** A frame as a path of the project, and the statement there: a log line names no message, the statement often does. */
function placeOf(frame: string): string {
  const [, url = '', row = ''] = /^(.+?):(\d+):\d+$/.exec(frame) ?? [];
  try {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const statement = readFileSync(file, 'utf8').split(/\r?\n/)[Number(row) - 1]?.trim() ?? '';
    return `${relative(project, file)}:${row}  ${statement.slice(0, 120)}`;
  } catch {
    return frame;
  }
}
