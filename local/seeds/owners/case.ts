import type { CfItem, CfPackage } from '#shared/platform/owners/case.ts';
import { once } from '#local/platform/store.ts';
import type { Entities, Framework, Tenant } from '../tenant.ts';

/** Returns what CASE publishes: the packages of the frameworks, and their items. */
export function caseEntities({ specs }: Tenant): Entities<'caseItems' | 'packages', 'packages'> {
  const all = [...new Set(specs.map(({ framework }) => framework))];
  const written = all.filter(({ isGenerated }) => !isGenerated);
  return {
    caseItems: written.flatMap(cfItemsOf),
    packages: written.map(cfPackageOf),
    generated: {
      packages: new Map(
        all
          .filter(({ isGenerated }) => isGenerated)
          .map((framework) => [framework.guid, once(() => cfPackageOf(framework))]),
      ),
    },
  };
}

/** Returns the address of what CASE holds under a GUID. */
export function caseUri(identifier: string): string {
  return `https://case.platform.example/uri/${identifier}`;
}

function cfItemsOf(framework: Framework): readonly CfItem[] {
  const { guid, title } = framework;
  const CFDocumentURI = { title, identifier: guid, uri: caseUri(guid) };
  return packageItemsOf(framework).map((item) => ({ ...item, CFDocumentURI }));
}

/** As a package contains them: without the document that they belong to. */
function packageItemsOf({ changedAt, educationLevel, items }: Framework) {
  return items().map((item) => ({
    identifier: item.guid,
    uri: caseUri(item.guid),
    fullStatement: item.statement,
    humanCodingScheme: item.code,
    CFItemType: { standard: 'Standard', knowledge_component: 'Knowledge Component' }[item.kind],
    educationLevel,
    lastChangeDateTime: changedAt,
  }));
}

/** In CASE each item is a child of something: a component of its standard, and a standard of the document, which is no item. */
function cfPackageOf(framework: Framework): CfPackage {
  const { guid, title, changedAt, items, precedes } = framework;
  const node = (identifier: string) => ({ identifier, uri: caseUri(identifier) });
  return {
    CFDocument: {
      identifier: guid,
      ...{ uri: caseUri(guid), title, creator: 'platform double' },
      lastChangeDateTime: changedAt,
    },
    CFItems: packageItemsOf(framework),
    CFAssociations: [
      ...items().map((item) => ({
        associationType: 'isChildOf',
        originNodeURI: node(item.guid),
        destinationNodeURI: node(item.parent ?? guid),
      })),
      ...precedes.map(([before, after]) => ({
        associationType: 'precedes',
        originNodeURI: node(before),
        destinationNodeURI: node(after),
      })),
    ],
  };
}
