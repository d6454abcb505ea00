import { randomUUID } from 'node:crypto';
import { isStrongEntityTag } from '#shared/kernel/entity-tag.ts';
import { notAsked, outcomeOf, type Check, type Outcome } from '../check.ts';
import { advanceAsk, inspectAsk, startedRunOf, startAsk, type StartedRun } from '../mastery-subjects.ts';
import { successFindings } from '../replies.ts';
import { about, titleOf, type Suite } from '../suite.ts';
import type { Ask, Reply } from '../target.ts';
import type { Tenant } from '../tenant-file.ts';
import { foreignFindings } from './reads.ts';

/** The number of items after which the suite gives up on a run. */
const MOST_ITEMS = 500;

/**
 * Each tenant takes an adaptive run with synthetic facts from its start to its stop, as far as HTTP allows: only the platform's player can
 * score an item [MA-013, MA-030, MA-039, MA-186].
 */
export function runChecks(suite: Suite): readonly Check[] {
  return [suite.a, suite.b].flatMap((tenant): readonly Check[] => [
    {
      group: 'run',
      subject: 'start-and-inspect',
      side: tenant.side,
      title:
        'a run with synthetic facts starts, is the same run if the key is repeated, and can be inspected',
      asked: `POST /v1/adaptive-runs by ${tenant.side} twice with one key, then :inspect with its continuation`,
      run: async () => outcomeOf((await start(suite, tenant)).findings),
    },
    {
      group: 'run',
      subject: 'advance-to-stop',
      side: tenant.side,
      title: 'the run can be played and advanced until it is completed',
      asked: `the player’s attempt and POST /v1/adaptive-runs:advance by ${tenant.side} until the run is completed`,
      run: () => finish(suite, tenant),
    },
  ]);
}

interface Started {
  readonly findings: readonly string[];
  readonly state?: StartedRun;
}

async function start(suite: Suite, tenant: Tenant): Promise<Started> {
  const ask = startAsk(tenant);
  if (!ask.ok) return { findings: [ask.error] };
  const sender = { token: tenant.full, key: `proof-${suite.nonce}-${randomUUID()}` };
  const first = await suite.target.send(ask.value, sender);
  const again = await suite.target.send(ask.value, sender);
  const state = startedRunOf(first);
  const repeated = startedRunOf(again);
  const sound = [...checked(suite, tenant, ask.value, first), ...checked(suite, tenant, ask.value, again)];
  if (sound.length > 0 || !state.ok || !repeated.ok) return { findings: sound };
  const inspect = inspectAsk(state.value);
  const inspected = await suite.target.send(inspect, { token: tenant.full });
  const { run } = state.value;
  const findings = [
    ...about(titleOf(inspect), checked(suite, tenant, inspect, inspected)),
    ...(run.runMode === 'owner_conformance' ? [] : ['the run has runMode production_learner']),
    ...(run.resultRecordRef === undefined ? [] : ['a run with synthetic facts has a result']),
    ...(run.offeredItem?.deliverySessionId === repeated.value.run.offeredItem?.deliverySessionId
      ? []
      : ['the repetition has a different offer']),
  ];
  return { findings, state: state.value };
}

async function finish(suite: Suite, tenant: Tenant): Promise<Outcome> {
  const { play, target } = suite;
  if (play === undefined) return notAsked('the platform’s player cannot be reached from here');
  const started = await start(suite, tenant);
  if (started.state === undefined) return outcomeOf(started.findings);
  let state = started.state;
  for (let items = 0; items < MOST_ITEMS && state.run.status !== 'completed'; items += 1) {
    const item = state.run.offeredItem;
    if (item !== null) {
      const refused = await play(tenant, item);
      if (refused !== undefined) return outcomeOf([`the player failed: ${refused}`]);
    }
    for (const next of [inspectAsk, advanceAsk]) {
      const ask = next(state);
      const reply = await target.send(ask, { token: tenant.full });
      const findings = checked(suite, tenant, ask, reply);
      const after = startedRunOf(reply);
      if (findings.length > 0 || !after.ok) return outcomeOf(about(titleOf(ask), findings));
      // An inspection leaves the continuation as it is.
      state = after.value;
    }
  }
  return outcomeOf([
    ...(state.run.status === 'completed' ? [] : [`the run has not stopped after ${MOST_ITEMS} items`]),
    ...(state.run.resultRecordRef === undefined ? [] : ['a run with synthetic facts has a result']),
  ]);
}

function checked(suite: Suite, tenant: Tenant, ask: Ask, reply: Reply): readonly string[] {
  const tag = reply.headers.get('etag');
  return [
    ...successFindings(ask, reply),
    ...(reply.status < 400 && (tag === null || !isStrongEntityTag(tag)) ? ['the ETag is not strong'] : []),
    ...foreignFindings(suite, tenant, reply),
  ];
}
