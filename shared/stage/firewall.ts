/** What a rule of a managed group does: `block`, or the reason why the firewall only counts its matches. */
type Treatment = 'block' | { readonly counted: string };

interface ManagedGroup {
  /** AWS publishes the versions without a pattern. It never changes a version, and replaces one that has expired by its default version. */
  readonly version: `Version_${number}.${number}`;
  /** What the labels of the group's rules begin with: the metrics of a label name the rule that matched. */
  readonly labelNamespace: string;
  /** Every rule of that version, named for what it looks for and the part in which it looks. */
  readonly rules: Readonly<Record<string, Treatment>>;
}

const opaquePath: Treatment = { counted: 'An id in a path is opaque, and may look like that.' };
const opaqueQuery: Treatment = { counted: 'A filter may name such an id.' };
const opaqueBody: Treatment = { counted: 'A body may name such an id.' };

/**
 * The groups of rules that AWS maintains and versions. An id is opaque, so it must pass in every form that an owner may give it: rules of the common
 * group that look into path, query and body only count. Header, cookie and known-bad rules block; the client guide names what ids they refuse. No
 * function opens a file, calls an address or renders a page that a request names, and an id goes to its owner as one segment without dot segments
 * (`encodeSegment`). To take a newer version, compare its rules with these (`aws wafv2 describe-managed-rule-group`) and change the version here.
 */
export const managedGroups = {
  AWSManagedRulesKnownBadInputsRuleSet: {
    version: 'Version_1.26',
    labelNamespace: 'awswaf:managed:aws:known-bad-inputs',
    rules: {
      JavaDeserializationRCE_HEADER: 'block',
      JavaDeserializationRCE_BODY: 'block',
      JavaDeserializationRCE_URIPATH: 'block',
      JavaDeserializationRCE_QUERYSTRING: 'block',
      Host_localhost_HEADER: 'block',
      PROPFIND_METHOD: 'block',
      ExploitablePaths_URIPATH: 'block',
      Log4JRCE_HEADER: 'block',
      Log4JRCE_QUERYSTRING: 'block',
      Log4JRCE_BODY: 'block',
      Log4JRCE_URIPATH: 'block',
      ReactJSRCE_BODY: 'block',
    },
  },
  AWSManagedRulesCommonRuleSet: {
    version: 'Version_1.23',
    labelNamespace: 'awswaf:managed:aws:core-rule-set',
    rules: {
      NoUserAgent_HEADER: { counted: 'Service clients need not send one.' },
      UserAgent_BadBots_HEADER: 'block',
      SizeRestrictions_QUERYSTRING: { counted: 'A cursor has up to 2,048 characters.' },
      SizeRestrictions_Cookie_HEADER: 'block',
      SizeRestrictions_BODY: {
        counted: 'Bodies of megabytes are part of the contract; the functions enforce the limits.',
      },
      SizeRestrictions_URIPATH: {
        counted: 'An id of 255 bytes has 765 characters in a path, and a path may contain two.',
      },
      EC2MetaDataSSRF_BODY: opaqueBody,
      EC2MetaDataSSRF_COOKIE: 'block',
      EC2MetaDataSSRF_URIPATH: opaquePath,
      EC2MetaDataSSRF_QUERYARGUMENTS: opaqueQuery,
      GenericLFI_QUERYARGUMENTS: opaqueQuery,
      GenericLFI_URIPATH: opaquePath,
      GenericLFI_BODY: opaqueBody,
      RestrictedExtensions_URIPATH: opaquePath,
      RestrictedExtensions_QUERYARGUMENTS: opaqueQuery,
      GenericRFI_QUERYARGUMENTS: opaqueQuery,
      GenericRFI_BODY: opaqueBody,
      GenericRFI_URIPATH: opaquePath,
      CrossSiteScripting_COOKIE: 'block',
      CrossSiteScripting_QUERYARGUMENTS: opaqueQuery,
      CrossSiteScripting_BODY: opaqueBody,
      CrossSiteScripting_URIPATH: opaquePath,
    },
  },
} as const satisfies Readonly<Record<string, ManagedGroup>>;
export type ManagedGroupName = keyof typeof managedGroups;
export type ManagedRuleName = {
  [G in ManagedGroupName]: keyof (typeof managedGroups)[G]['rules'];
}[ManagedGroupName];

/** AWS's lists of bad addresses, which have no versions. Its third rule only counts. */
export const ADDRESS_LIST = 'AWSManagedRulesAmazonIpReputationList';
export const addressListRules = ['AWSManagedIPReputationList', 'AWSManagedReconnaissanceList'] as const;

/** Returns the names of a group's rules that block, or that only count. */
export function rulesThat(does: 'block' | 'count', group: ManagedGroupName): readonly string[] {
  return Object.entries<Treatment>(managedGroups[group].rules)
    .filter(([, treatment]) => (treatment === 'block') === (does === 'block'))
    .map(([name]) => name);
}

/** Every rule that the firewall only counts. */
export const countedFirewallRules: ReadonlySet<string> = new Set(
  // SAFETY: the keys of the groups.
  (Object.keys(managedGroups) as ManagedGroupName[]).flatMap((group) => rulesThat('count', group)),
);
