import { isHashVerifiable } from '#shared/catalog/hash.ts';
import { decideQuickstart } from '#shared/catalog/quickstart.ts';
import { readinessOf, type SourceReadiness } from '#shared/catalog/readiness.ts';
import type { ReleaseCatalog } from '#shared/catalog/schema.ts';
import { pointer } from '#shared/kernel/defect.ts';
import type { Paint } from '#tools/terminal/paint.ts';
import { plainText } from '#tools/terminal/plain-text.ts';
import { renderTable } from '#tools/terminal/table.ts';

const MAX_CELL = 48;
const MAX_LINE = 120;
/** Blockers of one source that are shown, of any number. */
const SHOWN = 12;

/** A valid catalog in lines: its state, what quickstart creation returns, and per source what still blocks `ready`. */
export function explain(catalog: ReleaseCatalog, paint: Paint): readonly string[] {
  const readiness = readinessOf(catalog.source_assessments);
  const { status, createsOperation } = decideQuickstart(catalog);
  const gate = catalog.release_behavior.ready_gate;
  const state = catalog.release_state;
  const blocked = readiness.filter(({ blockers }) => blockers.length > 0).length;
  return [
    `Release catalog, schema version 6: ${paint(state === 'ready' ? 'green' : 'yellow', state)}`,
    `Quickstart creation returns ${status} and ${createsOperation ? 'creates an operation' : 'creates no operation'}.`,
    `Ready gate: ${cut(plainText(typeof gate === 'string' ? gate : JSON.stringify(gate)), MAX_LINE)}`,
    ...(isHashVerifiable(catalog)
      ? []
      : [
          'Hash not verified: catalog_revision_hash_scope describes another hash than this command computes.',
        ]),
    '',
    ...table(catalog, readiness, paint).split('\n'),
    '',
    blocked === 0 ? 'No source blocks ready.' : `${blocked} of ${readiness.length} sources block ready.`,
    ...(state === 'ready' ? [] : [`The catalog itself is ${state}.`]),
  ];
}

function table(catalog: ReleaseCatalog, readiness: readonly SourceReadiness[], paint: Paint): string {
  const rows = readiness.flatMap((source, index) => {
    const [first, ...others] = reasonsOf(source, index);
    const key = cut(plainText(catalog.source_assessments[index]?.source_key ?? ''), MAX_CELL);
    return [
      [
        key,
        progress(source.rows),
        progress(source.cells),
        first === undefined ? paint('green', 'nothing') : paint('yellow', first),
      ],
      ...others.map((reason) => ['', '', '', paint('yellow', reason)]),
    ];
  });
  return renderTable([['Source', 'Rows', 'Cells', 'What still blocks ready'], ...rows]);
}

/** Returns the blockers of a source, with pointers relative to the source. */
function reasonsOf({ blockers }: SourceReadiness, index: number): readonly string[] {
  const prefix = pointer('source_assessments', index).length;
  const more = blockers.length - SHOWN;
  return [
    ...blockers.slice(0, SHOWN).map((blocker) => `${blocker.pointer.slice(prefix)} ${blocker.message}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

const progress = ({ bound, expected }: SourceReadiness['rows']): string => `${bound} of ${expected}`;

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
