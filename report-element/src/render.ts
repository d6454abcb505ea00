import { h } from './dom.ts';
import { drawAxis } from './draw/axis.ts';
import { drawTimeline } from './draw/timeline.ts';
import type { Block, Cell, Entry, Section, Spoken, State, Table, Tone } from './speak/document.ts';
import type { SpokenFailure } from './speak/failure.ts';
import type { Texts } from './texts/en.ts';

const signs: Readonly<Record<Tone, string>> = { good: '●', bad: '▲', open: '○' };

/** How many rows of a list are drawn before the reader asks for all: few where a teacher decides what to do. */
const FIRST_ROWS = { teacher: 12, sure: 100, audit: 50, table: 60 } as const;
type Layer = 'teacher' | 'sure' | 'audit';

/** What drawing needs in addition to the words. */
export interface Surface {
  readonly texts: Texts;
  /** What the reader has opened or asked for, by the key of the place. */
  readonly isOpen: (key: string) => boolean;
  readonly setOpen: (key: string, open: boolean) => void;
  readonly save: (fileName: string, table: Table) => void;
  readonly tryAgain: () => void;
}

function stateWords({ tone, text }: State): HTMLElement {
  return h('span', { class: `state ${tone}` }, sign(tone), text);
}

function sign(tone: Tone): HTMLElement {
  return h('span', { class: 'sign', 'aria-hidden': 'true' }, `${signs[tone]} `);
}

function button(key: string, text: string, act: () => void): HTMLElement {
  return h('button', { type: 'button', part: 'button', 'data-key': key, onclick: act }, text);
}

/** Returns the rows to draw, and a button for the rest. */
function cut<Row>(surface: Surface, most: number, key: string, rows: readonly Row[]) {
  if (rows.length <= most || surface.isOpen(key)) return { shown: rows, more: undefined };
  return {
    shown: rows.slice(0, most),
    more: button(key, surface.texts.showAll(rows.length), () => surface.setOpen(key, true)),
  };
}

function drawEntry({ name, state, axis, lines }: Entry): HTMLElement {
  const title = h('span', {}, state === undefined ? name : h('strong', {}, name));
  return h(
    'li',
    {},
    h('div', { class: 'head' }, title, state === undefined ? undefined : stateWords(state)),
    axis === undefined ? undefined : drawAxis(axis, true),
    lines.length === 0
      ? undefined
      : h(
          'div',
          { class: 'lines' },
          lines.map((line) => h('p', {}, line)),
        ),
  );
}

function drawCell({ text, state, href }: Cell): (Node | string)[] {
  const words = href === undefined ? text : h('a', { href }, text);
  return state === undefined ? [words] : [h('span', { class: state }, sign(state), words)];
}

/** A table that scrolls by itself, by keyboard too. */
function drawTable(surface: Surface, key: string, table: Table): Node[] {
  const { shown, more } = cut(surface, FIRST_ROWS.table, key, table.rows);
  const { caption, columns } = table;
  const grid = h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption, 'data-key': `${key} scroll` },
    h(
      'table',
      { part: 'table' },
      h('caption', { class: 'hidden' }, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((title) => h('th', { scope: 'col' }, title)),
        ),
      ),
      h(
        'tbody',
        {},
        shown.map((row) =>
          h(
            'tr',
            {},
            row.map((cell, at) =>
              at === 0 ? h('th', { scope: 'row' }, drawCell(cell)) : h('td', {}, drawCell(cell)),
            ),
          ),
        ),
      ),
    ),
  );
  return more === undefined ? [grid] : [grid, more];
}

function drawBlock(surface: Surface, layer: Layer, key: string, block: Block): readonly Node[] {
  switch (block.kind) {
    case 'text':
      return [
        h('p', { class: block.quiet && 'quiet', lang: block.isEnglish ? 'en' : undefined }, block.text),
      ];
    case 'entries': {
      const { shown, more } = cut(surface, FIRST_ROWS[layer], key, block.entries);
      const hasAxis = block.entries.some(({ axis }) => axis !== undefined);
      const list = h(
        block.ordered ? 'ol' : 'ul',
        // Without markers, Safari takes a list for none unless it has the role.
        hasAxis ? { class: 'plain bars', role: 'list' } : {},
        shown.map(drawEntry),
      );
      return more === undefined ? [list] : [list, more];
    }
    case 'axis':
      return [drawAxis(block.axis, false)];
    case 'timeline':
      return [drawTimeline(block.timeline)];
    case 'table':
      return drawTable(surface, key, block.table);
    case 'csv':
      return [
        h(
          'p',
          {},
          button(key, block.text, () => surface.save(block.fileName, block.table)),
        ),
      ];
    case 'again':
      return [h('p', {}, button(key, block.text, surface.tryAgain))];
  }
}

function drawSections(surface: Surface, layer: Layer, sections: readonly Section[]): readonly HTMLElement[] {
  return sections.map(({ heading, blocks }, at) => {
    const isWide = blocks.some(({ kind }) => kind === 'timeline' || kind === 'table');
    const own =
      layer === 'teacher' ? ['panel', at === 0 ? 'next' : '', isWide ? 'wide' : ''].join(' ').trim() : '';
    return h(
      'section',
      { class: own, part: `${layer}-section` },
      h(layer === 'sure' ? 'h4' : 'h3', {}, heading),
      blocks.flatMap((block, index) => drawBlock(surface, layer, `${layer} ${at} ${index}`, block)),
    );
  });
}

function drawAudit(surface: Surface, sections: readonly Section[]): HTMLElement {
  const key = 'audit';
  const isOpen = surface.isOpen(key);
  return h(
    'details',
    {
      class: 'audit',
      part: 'audit',
      open: isOpen,
      ontoggle: (event) => {
        if (event.currentTarget instanceof HTMLDetailsElement && event.currentTarget.open !== isOpen)
          surface.setOpen(key, event.currentTarget.open);
      },
    },
    h('summary', { 'data-key': key }, surface.texts.auditors),
    // Thousands of cells cost time: they are drawn once a reader asks for them.
    isOpen ? drawSections(surface, 'audit', sections) : undefined,
  );
}

/** @param note the sentence about the data, which the page replaces by its slot `data-note` */
export function drawSpoken(surface: Surface, spoken: Spoken, note: string): readonly Node[] {
  const { texts } = surface;
  const { verdict, facts, teacher, sure, audit } = spoken;
  return [
    h(
      'header',
      { class: 'verdict', part: 'verdict' },
      h('h2', { class: verdict.tone }, sign(verdict.tone), verdict.text),
      facts.map((fact) => h('p', {}, fact)),
    ),
    h('div', { class: 'teacher', part: 'teacher' }, drawSections(surface, 'teacher', teacher)),
    h(
      'section',
      { class: 'note quiet', part: 'data-note' },
      h('h3', {}, texts.dataNoteTitle),
      ' ',
      h('p', {}, h('slot', { name: 'data-note' }, note)),
    ),
    ...(sure.length === 0
      ? []
      : [
          h(
            'section',
            { class: 'sure', part: 'sure' },
            h('h3', {}, texts.howSure),
            h('div', { class: 'sections' }, drawSections(surface, 'sure', sure)),
          ),
        ]),
    drawAudit(surface, audit),
  ];
}

/** Draws why there is nothing to show, and what to do. */
export function drawFailure(surface: Surface, { title, advice, audit }: SpokenFailure): readonly Node[] {
  return [
    h(
      'div',
      { class: 'panel failure', role: 'alert', part: 'failure' },
      h('h2', {}, title),
      h('p', {}, advice),
      h('p', {}, button('again', surface.texts.tryAgain, surface.tryAgain)),
    ),
    drawAudit(surface, audit),
  ];
}
