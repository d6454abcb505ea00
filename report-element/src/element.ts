import { csvOf } from './csv.ts';
import type { ClassData, Fetched, Knowledge, Names, ReportData, ScaleEnds } from './data.ts';
import { h } from './dom.ts';
import { loadClass } from './load-class.ts';
import { drawFailure, drawSpoken, type Surface } from './render.ts';
import { readAt, speak } from './speak/speak.ts';
import { speakFailure } from './speak/failure.ts';
import { createSpeaker, type Speaker } from './speak/speaker.ts';
import type { Table } from './speak/document.ts';
import { style } from './style.ts';

/** Fetches what to show. The signal aborts when the element is removed or gets something else to show. */
export type Load = (signal: AbortSignal) => Promise<ReportData>;

type Content =
  | { readonly state: 'empty' | 'loading' }
  | { readonly state: 'shown'; readonly data: ReportData }
  | { readonly state: 'failed'; readonly error: unknown };

/** The properties that a page may set before the element is defined. */
const properties = ['data', 'load', 'names', 'precedes', 'learner', 'scales', 'hrefOf'] as const;

let sheet: CSSStyleSheet | undefined;
function sharedSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
  }
  return sheet;
}

/**
 * `<mastery-report>`: a report as a person wants to see it. Set `data`, or `load` with a function that fetches it. It sends no request, stores
 * nothing and logs nothing, since it holds names.
 */
export class MasteryReportElement extends HTMLElement {
  static readonly observedAttributes = ['lang'];

  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #open = new Set<string>();
  #content: Content = { state: 'empty' };
  #knowledge: Knowledge = { names: {}, precedes: [], learner: undefined, scales: {}, hrefOf: undefined };
  #load: Load | undefined;
  #fetched: ReadonlyMap<string, Fetched> = new Map();
  #running: AbortController | undefined;
  #isUpdating = false;
  #isPrinting = false;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sharedSheet()];
  }

  /** What to show. */
  get data(): ReportData | undefined {
    return this.#content.state === 'shown' ? this.#content.data : undefined;
  }
  set data(data: ReportData | undefined) {
    this.#load = undefined;
    this.#show(data);
  }

  /** Fetches what to show, as soon as the element is on a page. */
  get load(): Load | undefined {
    return this.#load;
  }
  set load(load: Load | undefined) {
    this.#load = load;
    this.#open.clear();
    this.reload();
  }

  /** Texts by id: learners, standards, components, items, forms, tests. Without its name, a thing has a neutral label. */
  get names(): Names {
    return this.#knowledge.names;
  }
  set names(names: Names | undefined) {
    this.#know({ names: names ?? {} });
  }

  /** Pairs of ids of which the first is taught before the second. */
  get precedes(): Knowledge['precedes'] {
    return this.#knowledge.precedes;
  }
  set precedes(precedes: Knowledge['precedes'] | undefined) {
    this.#know({ precedes: precedes ?? [] });
  }

  /** What the learner is called. Otherwise `names` is asked. */
  get learner(): string | undefined {
    return this.#knowledge.learner;
  }
  set learner(learner: string | undefined) {
    this.#know({ learner });
  }

  /** The ends of mastery scales, by `scaleVersion` or `scaleId`. */
  get scales(): Readonly<Record<string, ScaleEnds>> {
    return this.#knowledge.scales;
  }
  set scales(scales: Readonly<Record<string, ScaleEnds>> | undefined) {
    this.#know({ scales: scales ?? {} });
  }

  /** Returns the address of the page that shows an attempt; history and class then link to it. */
  get hrefOf(): Knowledge['hrefOf'] {
    return this.#knowledge.hrefOf;
  }
  set hrefOf(hrefOf: Knowledge['hrefOf']) {
    this.#know({ hrefOf });
  }

  /** Fetches again, what is shown meanwhile being only that it is loading. */
  reload(): void {
    this.#running?.abort();
    const load = this.#load;
    if (load === undefined) {
      this.#show(undefined);
      return;
    }
    this.#set({ state: 'loading' });
    if (!this.isConnected) return;
    const { signal } = (this.#running = new AbortController());
    const settle = (act: () => void): void => {
      if (!signal.aborted) act();
    };
    // A function that throws has failed like one that rejects.
    Promise.resolve(signal)
      .then(load)
      .then(
        (data) => settle(() => this.#show(data)),
        (error: unknown) => settle(() => this.#set({ state: 'failed', error })),
      );
  }

  connectedCallback(): void {
    for (const name of properties) this.#upgrade(name);
    addEventListener('beforeprint', this.#print);
    addEventListener('afterprint', this.#afterPrint);
    this.#update();
    // A property that was taken over has begun to load.
    if (this.#running?.signal.aborted === false) return;
    if (this.#content.state === 'loading') this.reload();
    else if (this.#content.state === 'shown' && this.#content.data.kind === 'class')
      this.#loadClass(this.#content.data);
  }

  disconnectedCallback(): void {
    removeEventListener('beforeprint', this.#print);
    removeEventListener('afterprint', this.#afterPrint);
    this.#running?.abort();
  }

  attributeChangedCallback(): void {
    this.#update();
  }

  /** Takes over a property that was set before the element was defined. */
  #upgrade(name: (typeof properties)[number]): void {
    if (!Object.hasOwn(this, name)) return;
    const value: unknown = Reflect.get(this, name);
    Reflect.deleteProperty(this, name);
    Reflect.set(this, name, value);
  }

  #know(change: Partial<Knowledge>): void {
    this.#knowledge = { ...this.#knowledge, ...change };
    this.#update();
  }

  #set(content: Content): void {
    this.#content = content;
    this.#update();
  }

  #show(data: ReportData | undefined): void {
    this.#running?.abort();
    this.#fetched = new Map();
    this.#set(data === undefined ? { state: 'empty' } : { state: 'shown', data });
    if (data?.kind === 'class' && this.isConnected) this.#loadClass(data);
  }

  /** Loads the reports of a class that are not there yet. */
  #loadClass(data: ClassData): void {
    this.#running?.abort();
    const { signal } = (this.#running = new AbortController());
    const learners = data.learners.filter((id) => this.#fetched.get(id)?.state !== 'done');
    this.#fetched = new Map([...this.#fetched].filter(([, { state }]) => state === 'done'));
    void loadClass(data, {
      signal,
      learners,
      onFetched: (learner, fetched) => {
        this.#fetched = new Map(this.#fetched).set(learner, fetched);
        this.#update();
      },
    });
  }

  readonly #tryAgain = (): void => {
    if (this.#content.state === 'shown' && this.#content.data.kind === 'class') {
      this.#loadClass(this.#content.data);
      this.#update();
    } else this.reload();
  };

  /** On paper nothing can be opened, so everything is. */
  readonly #print = (): void => {
    this.#isPrinting = true;
    this.#render();
  };

  readonly #afterPrint = (): void => {
    this.#isPrinting = false;
    this.#update();
  };

  /** Renders once after all changes of this turn. */
  #update(): void {
    if (this.#isUpdating || !this.isConnected) return;
    this.#isUpdating = true;
    queueMicrotask(() => {
      this.#isUpdating = false;
      this.#render();
    });
  }

  #render(): void {
    const language = this.closest<HTMLElement>('[lang]')?.lang ?? document.documentElement.lang;
    const speaker = createSpeaker(language, this.#knowledge);
    const surface: Surface = {
      texts: speaker.texts,
      isOpen: (key) => this.#isPrinting || this.#open.has(key),
      setOpen: (key, open) => {
        if (open) this.#open.add(key);
        else this.#open.delete(key);
        this.#update();
      },
      save: saveTable,
      tryAgain: this.#tryAgain,
    };
    const { activeElement } = this.#root;
    const focused = activeElement instanceof HTMLElement ? activeElement.dataset['key'] : undefined;
    const scrolled = new Map(
      [...this.#root.querySelectorAll<HTMLElement>('.scroll')].map(({ dataset, scrollLeft }) => [
        dataset['key'],
        scrollLeft,
      ]),
    );
    const body = h('div', { part: 'report', lang: speaker.language }, this.#nodes(speaker, surface));
    this.#root.replaceChildren(body);
    for (const region of this.#root.querySelectorAll<HTMLElement>('.scroll'))
      region.scrollLeft = scrolled.get(region.dataset['key']) ?? 0;
    for (const place of this.#root.querySelectorAll<HTMLElement>('[data-key]'))
      if (focused !== undefined && place.dataset['key'] === focused) place.focus({ preventScroll: true });
  }

  #nodes(speaker: Speaker, surface: Surface): readonly Node[] {
    const { texts } = speaker;
    const content = this.#content;
    switch (content.state) {
      case 'empty':
        return [h('p', { class: 'quiet' }, texts.nothing)];
      case 'loading':
        return [h('p', { class: 'quiet', role: 'status' }, texts.loading)];
      case 'failed':
        return drawFailure(surface, speakFailure(speaker, content.error));
      case 'shown': {
        const spoken = speak(speaker, content.data, this.#fetched);
        const times = readAt(content.data, this.#fetched).map(speaker.time);
        return drawSpoken(surface, spoken, texts.dataNote(content.data.kind, times));
      }
    }
  }
}

/** Hands a table to the reader as a file, which is made here and leaves the browser only as a download. */
function saveTable(fileName: string, table: Table): void {
  // A spreadsheet knows UTF-8 by its mark.
  const href = URL.createObjectURL(new Blob(['\uFEFF', csvOf(table)], { type: 'text/csv;charset=utf-8' }));
  h('a', { href, download: fileName }).click();
  URL.revokeObjectURL(href);
}
