import type { KeyAdministrationError, KeyReport } from '#shared/keys/administration.ts';
import type { KeyRecord } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import type { KeyStep } from '#shared/keys/key-states.ts';
import { inOrder, RETIRE_AFTER_MS } from '#shared/keys/key-states.ts';

export type KeysCommand = 'init' | 'rotate' | 'retire';

/** What was done for one purpose, as sentences, with the time at which the next step is due. `now` in milliseconds. */
export function describeReport(command: KeysCommand, report: KeyReport, now: number): string {
  const { done, waiting } = report;
  const sentences = done.map(describeStep);
  const promoted = done.some((step) => step.kind === 'move' && step.to === 'active');
  const replaced = done.some((step) => step.kind === 'move' && step.to === 'opening');
  for (const { kid, until } of waiting) {
    sentences.push(
      command === 'retire'
        ? `${kid} still opens what it sealed: retire it from ${time(until)} on.`
        : `Containers are learning ${kid}: run rotate again from ${time(until)} on, and it takes over.`,
    );
  }
  if (promoted || replaced) {
    sentences.push(
      `What was sealed before stays readable: run retire from ${time(now + RETIRE_AFTER_MS)} on.`,
    );
  }
  if (replaced && report.purpose === 'pseudonym') {
    sentences.push(
      'What learners met in earlier runs is unknown from now on; runs under way are not touched.',
    );
  }
  if (sentences.length === 0) {
    sentences.push(command === 'init' ? 'has an active key already.' : 'has no key to retire.');
  }
  return `${report.purpose}: ${sentences.join(' ')}`;
}

function describeStep(step: KeyStep): string {
  if (step.kind === 'create') {
    return step.state === 'active'
      ? `${step.kid} created, it seals from now on.`
      : `${step.kid} created, pending.`;
  }
  switch (step.to) {
    case 'active':
      return `${step.kid} seals from now on.`;
    case 'opening':
      return `${step.kid} only opens from now on.`;
    case 'retired':
      return `${step.kid} is retired and its wrapped key deleted.`;
  }
}

/** Why nothing was done for a purpose, and what to do about it. */
export function describeError(purpose: KeyPurpose, error: KeyAdministrationError): string {
  switch (error.kind) {
    case 'not-initialized':
      return `${purpose}: there is no active key yet; run init first`;
    case 'unknown-key':
      return `${purpose}: there is no key ${error.kid}; list shows which there are`;
    case 'not-opening':
      return `${purpose}: ${error.kid} is ${error.state}; only a key that no longer seals can be retired, so replace it first: rotate --purpose ${purpose} --leaked`;
    case 'overtaken':
      return `${purpose}: somebody else changed the ring at the same time; nothing was changed, run it again`;
  }
}

/** The ring as a table: one line per key, purpose by purpose, oldest first. No key material. */
export function describeRing(ring: readonly (readonly KeyRecord[])[]): string {
  const rows = ring
    .flatMap(inOrder)
    .map((record) => [
      record.purpose,
      record.kid,
      record.state,
      ...[record.createdAt, record.activatedAt, record.openingAt, record.retiredAt].map((at) =>
        at === undefined ? '-' : time(at),
      ),
    ]);
  const table = [['purpose', 'kid', 'state', 'created', 'active', 'opening', 'retired'], ...rows];
  const widths = table.reduce<readonly number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Whole seconds, rounded up: at that time it is certainly due. */
function time(milliseconds: number): string {
  return `${new Date(Math.ceil(milliseconds / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}
