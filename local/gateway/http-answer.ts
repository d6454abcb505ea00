export interface HttpHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface HttpAnswer extends HttpHead {
  readonly body: string;
}

/** Names that a REST API does not let a function set: it drops them, or sends them under another name. */
const dropped = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);
const remapped = new Set(['date', 'server', 'www-authenticate']);

/**
 * Reads what a proxy integration returned.
 * @returns undefined when it is not `{statusCode, headers?, multiValueHeaders?, body?, isBase64Encoded?}`, which a REST API answers with its
 *   own 502. A base64 body stays text: the API declares no binary media type.
 */
export function toHttpAnswer(value: unknown): HttpAnswer | undefined {
  if (!isRecord(value)) return undefined;
  const head = toHttpHead(value);
  const body = value['body'] ?? '';
  return head !== undefined && typeof body === 'string' ? { ...head, body } : undefined;
}

/** Reads the status and the headers that a proxy integration returned, or wrote before its stream; undefined as for a whole answer. */
export function toHttpHead(value: unknown): HttpHead | undefined {
  if (!isRecord(value)) return undefined;
  const status = value['statusCode'];
  const single = value['headers'] ?? {};
  const multiple = value['multiValueHeaders'] ?? {};
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599)
    return undefined;
  if (!isRecord(single) || !isRecord(multiple)) return undefined;

  const headers: Record<string, string | readonly string[]> = { 'Content-Type': 'application/json' };
  function set(name: string, content: string | readonly string[]): void {
    const lower = name.toLowerCase();
    if (dropped.has(lower)) return;
    // One field per name, however it is spelled.
    const sent = remapped.has(lower) ? `x-amzn-Remapped-${name}` : name;
    for (const known of Object.keys(headers)) {
      if (known.toLowerCase() === sent.toLowerCase()) Reflect.deleteProperty(headers, known);
    }
    headers[sent] = content;
  }
  for (const [name, content] of Object.entries(single)) {
    if (!isScalar(content)) return undefined;
    set(name, String(content));
  }
  for (const [name, contents] of Object.entries(multiple)) {
    if (!Array.isArray(contents) || !contents.every(isScalar)) return undefined;
    set(name, contents.map(String));
  }
  return { status, headers };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
