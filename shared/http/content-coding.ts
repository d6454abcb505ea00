/** `gzip` or `gzip;q=0.5`, with the blanks that RFC 9110 allows. */
const CODING = /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Whether a caller takes gzip, by its Accept-Encoding (RFC 9110 section 12.5.3): named, or meant by `*`, with a weight above 0 that is not
 * below that of an unencoded body. A member that is malformed counts for nothing; of two for the same coding the first counts. Without the
 * header a body stays as it is, though any coding would be allowed: who can decode says so.
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
