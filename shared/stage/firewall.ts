/**
 * Rules of AWS's managed groups that the firewall only counts, each with the reason: an id is opaque, so it must pass in every form that an owner may give
 * it. The rules that still block are those against scripts, Log4j and Java exploits, the metadata address and well-known files; the client guide names them.
 * No function opens a file or calls an address that a request names, and an id goes to its owner as one segment without dot segments (`encodeSegment`).
 */
export const countedFirewallRules = {
  NoUserAgent_HEADER: 'Service clients need not send one.',
  SizeRestrictions_BODY: 'Bodies of megabytes are part of the contract; the functions enforce the limits.',
  SizeRestrictions_QUERYSTRING: 'A cursor has up to 2,048 characters.',
  SizeRestrictions_URIPATH: 'An id of 255 bytes has 765 characters in a path, and a path may contain two.',
  RestrictedExtensions_URIPATH: 'An id may end in .log or .ini.',
  RestrictedExtensions_QUERYARGUMENTS: 'A filter may name such an id.',
  GenericLFI_URIPATH: 'An id may contain ../',
  GenericLFI_QUERYARGUMENTS: 'A filter may name such an id.',
  GenericLFI_BODY: 'A body may name such an id.',
  GenericRFI_URIPATH: 'An id may be a URL.',
  GenericRFI_QUERYARGUMENTS: 'A filter may name such an id.',
  GenericRFI_BODY: 'A body may name such an id.',
} as const satisfies Readonly<Record<string, string>>;
