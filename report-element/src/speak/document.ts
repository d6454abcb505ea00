/** A report in words, before it is drawn: plain values without any markup. Each text is for the reader of its layer. */
export interface Spoken {
  readonly verdict: State;
  /** What stands below the verdict. */
  readonly facts: readonly string[];
  readonly teacher: readonly Section[];
  readonly sure: readonly Section[];
  /** Ids, policies, receipts: the only layer that shows values of the JSON as they came. */
  readonly audit: readonly Section[];
}

export interface Section {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** `good` and `bad` go with a sign and a word: the colour is never the only sign. */
export type Tone = 'good' | 'bad' | 'open';

export interface State {
  readonly tone: Tone;
  readonly text: string;
}

export type Block =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly quiet?: boolean;
      /** A sentence of the service, which is English in every language of the page. */
      readonly isEnglish?: boolean;
    }
  | { readonly kind: 'entries'; readonly ordered: boolean; readonly entries: readonly Entry[] }
  | { readonly kind: 'axis'; readonly axis: Axis }
  | { readonly kind: 'timeline'; readonly timeline: Timeline }
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'csv'; readonly text: string; readonly fileName: string; readonly table: Table }
  | { readonly kind: 'again'; readonly text: string };

/** One thing of a list, with the sentences about it. */
export interface Entry {
  readonly name: string;
  readonly state?: State;
  readonly axis?: Axis;
  readonly lines: readonly string[];
}

/** A horizontal axis with zones, a band and marks. What is beyond its ends is drawn at the end. */
export interface Axis {
  /** What the picture shows, in words. */
  readonly label: string;
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly zones: readonly { readonly from: number; readonly to: number; readonly tone: Tone }[];
  readonly band?: readonly [from: number, to: number];
  readonly marks: readonly { readonly at: number; readonly kind: 'value' | 'threshold' }[];
}

/** Values with their bands over time. */
export interface Timeline {
  readonly label: string;
  readonly low: number;
  readonly high: number;
  readonly ticks: Axis['ticks'];
  /** Days on the time axis, in milliseconds. */
  readonly days: Axis['ticks'];
  readonly points: readonly { readonly day: number; readonly value: number; readonly error: number }[];
}

export interface Cell {
  readonly text: string;
  readonly state?: Tone;
  readonly href?: string | undefined;
}

export interface Table {
  readonly caption: string;
  readonly columns: readonly string[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Cell[])[];
}
