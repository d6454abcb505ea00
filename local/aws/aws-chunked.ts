/**
 * Decodes a body in the content coding `aws-chunked`: `<hex length>[;chunk-signature=…]\r\n<bytes>\r\n` for each chunk, one of length 0, then
 * trailers `name:value\r\n` and an empty line. Signatures are not verified, as none are in the emulator.
 * @returns the bytes and the trailers by lower-case name; undefined when the body is not of this form, or goes on after its end.
 */
export function decodeChunks(
  body: Uint8Array,
): { readonly bytes: Uint8Array; readonly trailers: Readonly<Record<string, string>> } | undefined {
  const all = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = all.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = /^([0-9a-fA-F]{1,8})(;chunk-signature=[0-9a-f]{64})?$/.exec(
      all.toString('latin1', at, lineEnd),
    )?.[1];
    if (size === undefined) return undefined;
    const from = lineEnd + 2;
    const length = parseInt(size, 16);
    if (length === 0) {
      const trailers = readTrailers(all.toString('latin1', from));
      return trailers === undefined ? undefined : { bytes: Buffer.concat(chunks), trailers };
    }
    at = from + length + 2;
    if (at > all.length || all.toString('latin1', from + length, at) !== '\r\n') return undefined;
    chunks.push(all.subarray(from, from + length));
  }
}

function readTrailers(text: string): Readonly<Record<string, string>> | undefined {
  if (!`\r\n${text}`.endsWith('\r\n\r\n')) return undefined;
  const lines = text.slice(0, -2).split('\r\n').slice(0, -1);
  const trailers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = /^([A-Za-z0-9-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    trailers[name.toLowerCase()] = value;
  }
  return trailers;
}
