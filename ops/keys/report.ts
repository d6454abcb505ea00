import type { KeyAdministrationError, KeyReport } from '#shared/keys/administration.ts';
import type { KeyRecord } from '#shared/keys/key-record.ts';
import type { KeyPurpose } from '#shared/keys/key-ring.ts';
import { renderTable } from '#tools/terminal/table.ts';
import { inOrder, RETIRE_AFTER_MS, type KeyStep } from '#shared/keys/key-states.ts';

export type KeysCommand = 'init' | 'rotate' | 'retire';

/** Returns the steps for one purpose as sentences, with the time at which the next one is due. `now` in milliseconds. */
export function describeReport(command: KeysCommand, report: KeyReport, now: number): string {
  const { done, waiting } = report;
  const sentences = done.map(describeStep);
  const promoted = done.some((step) => step.kind === 'move' && step.to === 'active');
  const replaced = done.some((step) => step.kind === 'move' && step.to === 'opening');
  for (const { kid, until } of waiting) {
    sentences.push(
      command === 'retire'
        ? `${kid} is still needed to open what it sealed: run retire at ${time(until)} or later.`
        : `Containers are loading ${kid}: run rotate again at ${time(until)} or later to activate it.`,
    );
  }
  if (promoted || replaced) {
    sentences.push(
      `Everything sealed before stays readable: run retire at ${time(now + RETIRE_AFTER_MS)} or later.`,
    );
  }
  if (replaced && report.purpose === 'pseudonym') {
    sentences.push(
      'From now on, runs ignore the items that learners received in earlier runs. Runs in progress are not affected.',
    );
  }
  if (sentences.length === 0) {
    sentences.push(command === 'init' ? 'already has an active key.' : 'has no key to retire.');
  }
  return `${report.purpose}: ${sentences.join(' ')}`;
}

function describeStep(step: KeyStep): string {
  if (step.kind === 'create') {
    return step.state === 'active'
      ? `Created ${step.kid}; it seals from now on.`
      : `Created ${step.kid}; it is pending.`;
  }
  switch (step.to) {
    case 'active':
      return `${step.kid} seals from now on.`;
    case 'opening':
      return `From now on, ${step.kid} only opens.`;
    case 'retired':
      return `Retired ${step.kid} and deleted its wrapped key.`;
  }
}

/** Returns why a command failed for a purpose, and what to do. */
export function describeError(purpose: KeyPurpose, error: KeyAdministrationError): string {
  switch (error.kind) {
    case 'not-initialized':
      return `${purpose}: no active key: run init first`;
    case 'unknown-key':
      return `${purpose}: unknown key ${error.kid}: run list to see the keys`;
    case 'not-opening':
      return `${purpose}: ${error.kid} is ${error.state}, and only a key that no longer seals can be retired: replace it first with rotate --purpose ${purpose} --leaked`;
    case 'overtaken':
      return `${purpose}: another operator changed the keys at the same time. Nothing was changed: run the command again`;
  }
}

/** Returns the ring as a table: one line per key, purpose by purpose, oldest first. No key material. */
export function describeRing(ring: readonly (readonly KeyRecord[])[]): string {
  const rows = ring
    .flatMap(inOrder)
    .map((record) => [
      record.purpose,
      record.kid,
      record.leaked ? `${record.state}, leaked` : record.state,
      ...[record.createdAt, record.activatedAt, record.openingAt, record.retiredAt].map((at) =>
        at === undefined || at === 0 ? '-' : time(at),
      ),
    ]);
  return renderTable([['purpose', 'kid', 'state', 'created', 'active', 'opening', 'retired'], ...rows]);
}

/** Whole seconds, rounded up, so that the step is due at that time. */
function time(milliseconds: number): string {
  return `${new Date(Math.ceil(milliseconds / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}
