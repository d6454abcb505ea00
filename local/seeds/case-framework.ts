import type { CfItem, CfPackage } from '#shared/platform/owners/case.ts';

const CASE_BASE = 'https://case.platform.example/uri';

/** The address of whatever CASE holds under a GUID. */
export function caseUri(identifier: string): string {
  return `${CASE_BASE}/${identifier}`;
}

/** A framework as CASE publishes it. */
interface Framework {
  readonly guid: string;
  readonly title: string;
  readonly changedAt: string;
  readonly educationLevel: readonly string[];
  readonly items: readonly FrameworkItem[];
}

interface FrameworkItem {
  readonly guid: string;
  readonly code: string;
  readonly kind: 'standard' | 'knowledge_component';
  readonly statement: string;
  /** The GUID of its standard; undefined at the root. */
  readonly parent: string | undefined;
}

const itemTypes = { standard: 'Standard', knowledge_component: 'Knowledge Component' } as const;

/** The framework's items, as CFItems. */
export function cfItemsOf(framework: Framework): readonly CfItem[] {
  const { guid, title } = framework;
  const CFDocumentURI = { title, identifier: guid, uri: caseUri(guid) };
  return packageItemsOf(framework).map((item) => ({ ...item, CFDocumentURI }));
}

/** As a package holds them: which document they belong to goes without saying. */
function packageItemsOf({ changedAt, educationLevel, items }: Framework) {
  return items.map((item) => ({
    identifier: item.guid,
    uri: caseUri(item.guid),
    fullStatement: item.statement,
    humanCodingScheme: item.code,
    CFItemType: itemTypes[item.kind],
    educationLevel,
    lastChangeDateTime: changedAt,
  }));
}

/**
 * The framework's package. As CASE has it, each item is a child of something: a component of its standard, and what stands at the root of the
 * document itself, which is no item.
 */
export function cfPackageOf(framework: Framework): CfPackage {
  const { guid, title, changedAt, items } = framework;
  const node = (identifier: string) => ({ identifier, uri: caseUri(identifier) });
  return {
    CFDocument: {
      identifier: guid,
      ...{ uri: caseUri(guid), title, creator: 'platform double' },
      lastChangeDateTime: changedAt,
    },
    CFItems: packageItemsOf(framework),
    CFAssociations: items.map((item) => ({
      associationType: 'isChildOf',
      originNodeURI: node(item.guid),
      destinationNodeURI: node(item.parent ?? guid),
    })),
  };
}
