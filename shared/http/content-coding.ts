/** `gzip` or `gzip;q=0.5`, with the blanks that RFC 9110 allows. */
const CODING = /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Returns whether a caller accepts gzip, by its Accept-Encoding (RFC 9110 section 12.5.3): named, or included in `*`, with a weight above 0 that is
 * not below that of an unencoded body. A malformed member is ignored; if two name the same coding, the first counts. Without the header a body is not
 * compressed, though any coding would be allowed: a client that can decode sends the header.
 * @param values every value of the header
 */
export function acceptsGzip(values: readonly string[]): boolean {
  const weights = new Map<string, number>();
  for (const member of values.join(',').split(',')) {
    const [, name = '', weight = '1'] = CODING.exec(member.trim()) ?? [];
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip');
    if (coding !== '' && !weights.has(coding)) weights.set(coding, Number(weight));
  }
  const gzip = weights.get('gzip') ?? weights.get('*') ?? 0;
  return gzip > 0 && gzip >= (weights.get('identity') ?? 0);
}
