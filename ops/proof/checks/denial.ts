import { materializeAttemptReport } from '#shared/contract/reports/routes/materialize-attempt-report.ts';
import { startAdaptiveRun } from '#shared/contract/mastery/routes/start-adaptive-run.ts';
import { notAsked, outcomeOf, type Check, type Outcome } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings, successFindings, type Refusal } from '../replies.ts';
import { about, belongsToBoth, directionsOf, sendOwn, servedFindings, titleOf } from '../suite.ts';
import type { Direction, Subject, Suite } from '../suite.ts';
import type { Ask } from '../target.ts';
import { compareResponses } from '../compare-responses.ts';
import { foreignFindings } from './reads.ts';

/** A request with an id of the owner, and the same request with an unknown id. */
interface Probe {
  readonly foreign: Ask;
  readonly absent: Ask;
  readonly refusal: Refusal;
}

/** A resource of the other tenant looks like an unknown one, in both directions [RP-024, RP-316, RP-324, MA-021, MA-159, MA-214]. */
export function denialChecks(suite: Suite): readonly Check[] {
  return directionsOf(suite).flatMap((direction) =>
    suite.subjects.flatMap((subject) => {
      const check = (
        name: string,
        asked: string,
        probe: (own: Ask, foreign: Ask) => Probe | string,
      ): Check => ({
        group: 'denial',
        subject: name,
        side: direction.side,
        title:
          'a resource of the other tenant cannot be distinguished from an unknown one, before and after its owner has read it',
        asked,
        run: () => deny(suite, subject, direction, probe),
      });
      const { asker, owner } = direction;
      const whole = check(
        subject.name,
        `${titleOf(subject)} by ${asker.side} for a resource of ${owner.side}, and for one that does not exist`,
        (_, foreign) => ({ foreign, absent: withRandomIds(foreign), refusal: 'hidden' }),
      );
      return [
        whole,
        ...membersOf(subject).map(([member, refusal]) =>
          check(
            `${subject.name}.${member}`,
            `${titleOf(subject)} by ${asker.side} with its own ids except for ${owner.side}’s ${member}, and with one that does not exist`,
            (own, foreign) => mixed(own, foreign, member, refusal),
          ),
        ),
      ];
    }),
  );
}

/** Returns the members of a body that can be another tenant's while the others are one's own. */
function membersOf({ route }: Subject): readonly (readonly [string, Refusal])[] {
  if (route.operationId === materializeAttemptReport.operationId)
    // An administration that is not the attempt's, of either tenant [RP-283].
    return [
      ['attemptId', 'hidden'],
      ['administrationId', 'invalid'],
    ];
  if (route.operationId === startAdaptiveRun.operationId)
    return ['selectionPolicyId', 'scaleCalibrationId', 'testSpecId', 'testBankId', 'bankOperationId'].map(
      (member) => [member, 'hidden'],
    );
  return [];
}

function mixed(own: Ask, foreign: Ask, member: string, refusal: Refusal): Probe | string {
  const theirs = foreign.body?.[member];
  if (theirs === undefined || own.body?.[member] === theirs) return `both tenants have the same ${member}`;
  const body = { ...own.body, [member]: theirs };
  return { foreign: { ...own, body }, absent: withRandomIds({ ...own, body }, [member]), refusal };
}

async function deny(
  suite: Suite,
  subject: Subject,
  { asker, owner }: Direction,
  probeOf: (own: Ask, foreign: Ask) => Probe | string,
): Promise<Outcome> {
  const { service, target } = suite;
  const [own, foreign] = [await subject.own(asker), await subject.own(owner)];
  if (!own.ok) return outcomeOf([own.error]);
  if (!foreign.ok) return outcomeOf([foreign.error]);
  if (belongsToBoth(own.value, foreign.value)) return notAsked('the resource belongs to both tenants');
  const probe = probeOf(own.value, foreign.value);
  if (typeof probe === 'string') return notAsked(probe);

  const token = asker.full;
  const absent = await target.send(probe.absent, { token });
  const before = await target.send(probe.foreign, { token });
  const served = subject.repeatable ? await sendOwn(suite, subject, owner, foreign.value) : undefined;
  const after = await target.send(probe.foreign, { token });
  const again = await target.send(probe.absent, { token });
  return outcomeOf([
    ...about('unknown resource', refusalFindings(service, probe.refusal, absent)),
    ...about(`${owner.side}’s resource`, refusalFindings(service, probe.refusal, before)),
    ...about(`${owner.side}’s resource differs from an unknown one`, compareResponses(before, absent)),
    ...(served === undefined ? [] : servedFindings(foreign.value, served)),
    ...about(
      `${owner.side}’s resource differs from an unknown one after ${owner.side} has read it`,
      compareResponses(after, absent),
    ),
    ...about('two unknown resources differ', compareResponses(again, absent)),
    ...foreignFindings(suite, asker, before),
    ...foreignFindings(suite, asker, after),
  ]);
}

/** Within a tenant, a resource outside the claims looks like an unknown one [RP-313, RP-316]. */
export function claimChecks(suite: Suite): readonly Check[] {
  return [suite.a, suite.b].flatMap((tenant) =>
    suite.subjects
      .filter(({ narrowed }) => narrowed)
      .map((subject) => ({
        group: 'claims',
        subject: subject.name,
        side: tenant.side,
        title:
          'a resource outside the claims cannot be distinguished from an unknown one, even after it has been read',
        asked: `${titleOf(subject)} by ${tenant.side} with and without resource claims for its own resource, and for one that does not exist`,
        run: async () => {
          const token = tenant.withoutClaims;
          if (token === undefined)
            return notAsked(`the file of tenant ${tenant.side} has no /tokens/withoutClaims`);
          const own = await subject.own(tenant);
          if (!own.ok) return outcomeOf([own.error]);
          const served = await sendOwn(suite, subject, tenant, own.value);
          const absent = await suite.target.send(withRandomIds(own.value), { token });
          const hidden = await suite.target.send(own.value, { token });
          return outcomeOf([
            ...successFindings(own.value, served),
            ...about('unknown resource', refusalFindings(suite.service, 'hidden', absent)),
            ...about('resource outside the claims', refusalFindings(suite.service, 'hidden', hidden)),
            ...about('it differs from an unknown resource', compareResponses(hidden, absent)),
          ]);
        },
      })),
  );
}
