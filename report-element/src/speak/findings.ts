import type { Axis, Block, Entry, Section } from './document.ts';
import { orderOf } from './order.ts';
import { knownState, type RowState } from './rows.ts';
import type { Speaker } from './speaker.ts';
import { ruleText, stateOf, zonesOf, type Rule } from './states.ts';

/** What a report or a run contains about one standard or component. */
export interface Finding {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly partOf?: string | undefined;
  /** The ids of the items behind it; undefined where the view leaves them out. */
  readonly items: readonly string[] | undefined;
  readonly figure: string;
  readonly axis: Axis;
  /** Undefined where the answer does not give it. */
  readonly rule: Rule | undefined;
}

interface TeacherOptions {
  /** Gaps that only a decision lists, and the finding about each, which has another state. */
  readonly otherGaps?: readonly { readonly id: string; readonly finding: Finding | undefined }[];
  readonly isRunning?: boolean;
}

/** The most items of an entry that are named. */
const NAMED_ITEMS = 6;

function itemsText({ texts, nameOf, list }: Speaker, ids: readonly string[]): string {
  // An item may have several outcomes.
  const names = [...new Set(ids.flatMap((id) => nameOf(id) ?? []))];
  const shown = names.slice(0, NAMED_ITEMS);
  const unnamed = new Set(ids.filter((id) => nameOf(id) === undefined)).size;
  return list([
    ...shown,
    ...(names.length > shown.length ? [texts.items(names.length - shown.length)] : []),
    ...(unnamed > 0 ? [texts.unnamedItems(unnamed)] : []),
  ]);
}

/** Returns what a teacher does with the findings: what to teach next, what is open and how to settle it, and what is mastered. */
export function teacherSections(
  speaker: Speaker,
  findings: readonly Finding[],
  { otherGaps = [], isRunning = false }: TeacherOptions = {},
): readonly Section[] {
  const { texts } = speaker;
  const inState = (...states: readonly RowState[]): readonly Finding[] =>
    findings.filter((finding) => states.includes(knownState(finding)));
  const open = inState('not_yet', 'insufficient_evidence', 'unknown');
  const mastered = inState('mastered');
  const settling: Readonly<Record<RowState, string>> = {
    not_yet: isRunning ? texts.howToSettle.running : texts.howToSettle.notSettled,
    insufficient_evidence: texts.howToSettle.tooLittle,
    unknown: texts.howToSettle.unknownState,
    gap: '',
    mastered: '',
  };
  const kinds = [...new Set(open.map(knownState))];
  return [
    {
      heading: texts.teachNext,
      blocks: nextBlocks(
        speaker,
        inState('gap'),
        otherGaps,
        open.length > 0 ? texts.noGapYet : mastered.length > 0 ? texts.noGap : texts.nothingMeasured,
      ),
    },
    ...(open.length === 0
      ? []
      : [
          {
            heading: texts.open,
            // One sentence for all where they are open for one reason.
            blocks: kinds.flatMap((kind): Block[] => [
              {
                kind: 'entries',
                ordered: false,
                entries: open
                  .filter((finding) => knownState(finding) === kind)
                  .map(({ name, partOf }) => ({
                    name,
                    lines: partOf === undefined ? [] : [texts.partOf(partOf)],
                  })),
              },
              { kind: 'text', text: settling[kind] },
            ]),
          },
        ]),
    ...(mastered.length === 0
      ? []
      : [
          {
            heading: texts.alreadyMastered,
            blocks: [
              {
                kind: 'entries' as const,
                ordered: false,
                entries: mastered.map(({ name }) => ({ name, lines: [] })),
              },
            ],
          },
        ]),
  ];
}

function nextBlocks(
  speaker: Speaker,
  gaps: readonly Finding[],
  otherGaps: NonNullable<TeacherOptions['otherGaps']>,
  none: string,
): readonly Block[] {
  const { texts, nameOf, precedes, list } = speaker;
  const steps = [
    ...gaps.map(({ id, name, partOf, items }) => ({
      id,
      name,
      lines: [
        ...(partOf === undefined ? [] : [texts.partOf(partOf)]),
        items === undefined ? texts.shownByOmitted : texts.shownBy(itemsText(speaker, items)),
      ],
    })),
    ...otherGaps.map(({ id, finding }, at) => ({
      id,
      name: finding?.name ?? nameOf(id) ?? texts.unlistedGap(String(at + 1)),
      lines: [
        finding === undefined
          ? texts.gateGapWithoutRow
          : texts.gateGapAgainstRow(stateOf(speaker, finding).text),
      ],
    })),
  ];
  if (steps.length === 0) return [{ kind: 'text', text: none }];
  // A standard and a component may have one id.
  const byId = Map.groupBy(steps, ({ id }) => id);
  const order = orderOf([...byId.keys()], precedes);
  const hasOrder = order.ids.some((id) => order.before(id).length > 0);
  return [
    ...(steps.length === 1
      ? []
      : [{ kind: 'text' as const, quiet: true, text: hasOrder ? texts.inOrder : texts.asListed }]),
    {
      kind: 'entries',
      ordered: hasOrder,
      entries: order.ids.flatMap((id): Entry[] => {
        const before = order.before(id).flatMap((one) => byId.get(one)?.[0]?.name ?? []);
        const first = before.length === 0 ? [] : [texts.after(list(before))];
        return (byId.get(id) ?? []).map(({ name, lines }) => ({ name, lines: [...first, ...lines] }));
      }),
    },
  ];
}

/** Returns a bar for each finding, under the rule by which its state was decided. */
export function statesSection(
  speaker: Speaker,
  findings: readonly Finding[],
  remarks: readonly string[],
): Section {
  const { texts } = speaker;
  const rules = [
    ...new Set(findings.map(({ rule }) => (rule === undefined ? undefined : ruleText(speaker, rule)))),
  ];
  const hasMargin = findings.some(({ axis }) => axis.band !== undefined);
  const [rule] = rules;
  const isOne = rules.length === 1;
  const ruleLine = !isOne
    ? texts.rulesDiffer
    : rule === undefined
      ? texts.ruleOfPolicy(hasMargin)
      : texts.ruleStart(rule);
  return {
    heading: texts.states,
    blocks: [
      { kind: 'text', text: ruleLine },
      {
        kind: 'entries',
        ordered: false,
        entries: findings.map((finding): Entry => {
          const own =
            finding.rule === undefined
              ? texts.ruleOfPolicy(finding.axis.band !== undefined)
              : ruleText(speaker, finding.rule);
          return {
            name: finding.name,
            state: stateOf(speaker, finding),
            axis: finding.axis,
            lines: [finding.figure, ...(isOne ? [] : [texts.rowRule(own)])],
          };
        }),
      },
      ...remarks.map((text): Block => ({ kind: 'text', quiet: true, text })),
    ],
  };
}

/** Returns a probability of mastery, under the rule that makes it a state if the answer gives one. */
export function probabilityOf(
  speaker: Speaker,
  name: string,
  value: number,
  rule: Rule | undefined,
): Pick<Finding, 'rule' | 'figure' | 'axis'> {
  const { mastered, gap } = rule === undefined ? { mastered: 1, gap: 0 } : zonesOf(rule);
  const figure = speaker.texts.probability(
    speaker.probability(value, rule === undefined ? [] : [mastered, gap]),
  );
  const zones: Axis['zones'] = [
    { from: 0, to: gap, tone: 'bad' },
    { from: gap, to: mastered, tone: 'open' },
    { from: mastered, to: 1, tone: 'good' },
  ];
  const axis = probabilityAxis(speaker, name, value, figure);
  return { rule, figure, axis: { ...axis, zones: rule === undefined ? [] : zones } };
}

/** A probability on an axis from 0 to 1. */
export function probabilityAxis(
  { texts, percent }: Speaker,
  name: string,
  value: number,
  figure: string,
  threshold?: number,
): Axis {
  return {
    label: texts.axisLabel(name, figure, percent(0), percent(1)),
    low: 0,
    high: 1,
    ticks: [0, 0.5, 1].map((at) => ({ at, text: percent(at) })),
    zones: [],
    marks: [
      ...(threshold === undefined ? [] : [{ at: threshold, kind: 'threshold' as const }]),
      { at: value, kind: 'value' },
    ],
  };
}
