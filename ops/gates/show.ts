import { placeFault, readAppliedManifest, sortFlags } from '#shared/release/read-release.ts';
import type { AppliedGates } from '#shared/release/read-release.ts';
import { finerReceipts, gates, provable, type Provable } from '#shared/contract/gates.ts';
import type { ReleaseStateTable } from '#shared/stores/release-state-table.ts';
import type { Route } from '#shared/contract/route.ts';
import { err, ok, type Result } from '#shared/kernel/result.ts';
import { gatesPath } from '#shared/release/applied-manifest.ts';
import { verifyManifest, type ManifestUse } from '#shared/release/manifest.ts';
import { closed, isReleased, missingFor, releaseOf } from '#shared/release/release-state.ts';
import type { GateFlags, ReleaseState } from '#shared/release/release-state.ts';
import { renderTable } from '#tools/terminal/table.ts';
import { receiptFaults } from './check-manifest.ts';
import { dereferenceAll, type Dereferenced, type ReceiptPlaces } from './dereference.ts';

export interface Shown {
  readonly use: ManifestUse;
  readonly applied: AppliedGates;
  readonly state: Pick<ReleaseStateTable, 'read'>;
  readonly places: ReceiptPlaces;
  readonly routes: readonly Route[];
}

/** How long before its expiry a manifest should be renewed: 30 days. */
const RENEWAL_MS = 30 * 24 * 3_600_000;

/** Returns the table of a stage's gates, what is wrong with it, what is open in the deployed functions, and what opens next. */
export async function showGates(shown: Shown): Promise<Result<string, string>> {
  const { use, applied, state, places, routes } = shown;
  const { stage } = use;
  let parameters, found, runtime;
  try {
    parameters = await applied.readFlags(gatesPath(stage));
    found = await readAppliedManifest(use, applied);
    runtime = await state.read();
  } catch (error) {
    return err(
      `cannot read the gates of ${stage}: ${error instanceof Error ? error.message || error.name : 'unknown error'}`,
    );
  }
  const misplaced = placeFault(stage, parameters);
  if (misplaced !== undefined) return err(misplaced);
  const { flags, wrong } = sortFlags(stage, parameters);
  const manifest = found.ok ? found.value?.manifest : undefined;
  const receipts = manifest === undefined ? [] : await dereferenceAll(manifest, places);
  const release = manifest === undefined ? closed : releaseOf(manifest, flags);

  const lines = [
    heading(use, found, manifest?.expiresAt),
    '',
    gateTable(flags, release, receipts, routes),
    '',
  ];
  const warnings = [
    ...(manifest !== undefined && Date.parse(manifest.expiresAt) - use.now < RENEWAL_MS
      ? [
          `the manifest expires at ${manifest.expiresAt}: from then on, every gated route returns 503. Apply a renewed manifest before`,
        ]
      : []),
    ...wrong.map((sentence) => `${sentence}: it counts as closed here, and every synth fails`),
    ...(found.ok ? [] : [`${found.error}: no gate is open`]),
    ...receiptFaults(receipts).map(
      (sentence) => `${sentence}; a manifest with this receipt cannot be applied again`,
    ),
  ];
  if (warnings.length > 0) lines.push(...warnings.map((sentence) => `! ${sentence}`), '');
  lines.push(await runtimeLine(use, runtime, release));
  lines.push(...nextLines(release, routes));
  return ok(lines.join('\n'));
}

function heading(
  { stage }: ManifestUse,
  found: Awaited<ReturnType<typeof readAppliedManifest>>,
  expiresAt: string | undefined,
): string {
  if (!found.ok) return `${stage}: the applied manifest is not valid`;
  return found.value === undefined
    ? `${stage}: no manifest has been applied`
    : `${stage}: manifest ${found.value.reference.sha256.slice(0, 12)}…, valid until ${expiresAt ?? ''}`;
}

/** Per gate: its flag, receipts and state, and the routes that are closed because of it, by itself or with other gates. */
function gateTable(
  flags: GateFlags,
  release: ReleaseState,
  receipts: readonly Dereferenced[],
  routes: readonly Route[],
): string {
  const missing = new Map(routes.map((route) => [route.operationId, missingFor(route, release)]));
  const holdsBack = (name: Provable): string =>
    routes
      .filter(({ operationId }) => missing.get(operationId)?.includes(name))
      .map(({ operationId }) => operationId)
      .join(' ');
  const proofs = (name: Provable): string => {
    const own = receipts.filter(({ receipt }) => receipt.proves === name);
    if (own.length === 0) return 'none';
    const failing = own.filter(({ fault }) => fault !== undefined).length;
    return failing === 0 ? `${own.length}` : `${own.length}, ${failing} failing`;
  };
  const rows = provable.map((name) => {
    const gate = gates.find((candidate) => candidate === name);
    const flag = gate === undefined ? '' : (flags[gate] ?? 'none');
    const isOpen = gate === undefined || gate === 'E' ? release.proved.has(name) : release.open.has(gate);
    return [
      name,
      flag,
      proofs(name),
      gate === undefined ? (isOpen ? 'proved' : 'not proved') : stateOf(flag, isOpen, flags, release, name),
      holdsBack(name),
    ];
  });
  // Below D, in the order of the gates.
  const manifestRow = [
    'E',
    flags.E ?? 'none',
    'manifest',
    flags.E === 'open' && release.proved.size > 0 ? 'open' : 'closed',
    '',
  ];
  const before = rows.findIndex(([name]) => name === 'F');
  return renderTable([
    ['gate', 'flag', 'receipts', 'state', 'closed routes'],
    ...rows.slice(0, before),
    manifestRow,
    ...rows.slice(before),
  ]);
}

function stateOf(
  flag: string,
  isOpen: boolean,
  flags: GateFlags,
  { proved }: ReleaseState,
  name: Provable,
): string {
  if (isOpen) return 'open';
  if (flag !== 'open') return 'closed';
  if (flags.E === 'closed') return 'closed, because gate E is closed';
  return proved.has(name) ? 'closed' : 'closed: the flag is open, but no receipt proves it';
}

/** Returns whether the same gates are open in the deployed functions. */
async function runtimeLine(
  use: ManifestUse,
  runtime: Awaited<ReturnType<ReleaseStateTable['read']>>,
  synthesized: ReleaseState,
): Promise<string> {
  if (runtime === undefined)
    return 'Deployed functions: no manifest has been applied; every gated route returns 503';
  const verified = await verifyManifest(runtime.manifest, use);
  const { open, proved } = verified.ok ? releaseOf(verified.value, runtime.flags) : closed;
  const finer = finerReceipts.filter((name) => proved.has(name));
  const names = [...open, ...finer].join(', ') || 'no gate';
  const since = `applied ${new Date(runtime.appliedAt).toISOString()}`;
  const isSame =
    [...open].join() === [...synthesized.open].join() &&
    finerReceipts.every((name) => proved.has(name) === synthesized.proved.has(name));
  return isSame
    ? `Deployed functions: the same (${since})`
    : `Deployed functions: ${names} open (${since}). The next synth would open other gates: apply the manifest again`;
}

/** Returns the smallest steps from here, each with the routes that it opens. */
function nextLines(release: ReleaseState, routes: readonly Route[]): readonly string[] {
  const waiting = routes.filter((route) => !isReleased(route, release));
  if (waiting.length === 0) return ['Every route is open.'];
  const steps = new Map<string, readonly Provable[]>();
  for (const route of waiting) {
    const missing = missingFor(route, release);
    steps.set(missing.join(), missing);
  }
  const least = Math.min(...[...steps.values()].map((step) => step.length));
  return [...steps.values()]
    .filter((step) => step.length === least)
    .map((step) => {
      const opened = waiting.filter((route) =>
        missingFor(route, release).every((name) => step.some((other) => other === name)),
      );
      return `Next: ${step.join(' and ')} would open ${opened.map(({ operationId }) => operationId).join(', ')}`;
    });
}
