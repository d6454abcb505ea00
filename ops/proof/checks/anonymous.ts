import { outcomeOf, type Check } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings } from '../replies.ts';
import { about, titleOf, type Subject, type Suite } from '../suite.ts';
import type { Sender } from '../target.ts';
import { compareResponses } from '../compare-responses.ts';

/** Without a valid token, every request returns the same 401, for existing and for unknown resources [RP-024, RP-226, MA-021]. */
export function anonymousChecks(suite: Suite): readonly Check[] {
  return suite.subjects.map((subject) => ({
    group: 'anonymous',
    subject: subject.name,
    side: 'both',
    title: 'every request without a valid token returns the same 401',
    asked: `${titleOf(subject)} for a resource of A, one of B and one that does not exist, with no token, a malformed one, A’s with another signature, A’s without a signature`,
    run: async () => {
      const findings: string[] = [];
      for (const [what, sender] of strangers(suite)) {
        const made = await ownAsk(suite, subject);
        if (typeof made === 'string') return outcomeOf([made]);
        const absent = await suite.target.send(withRandomIds(made[0]), sender);
        findings.push(
          ...about(`${what}, unknown resource`, refusalFindings(suite.service, 'unknown', absent)),
        );
        for (const [at, ask] of made.entries()) {
          const reply = await suite.target.send(ask, sender);
          const whose = at === 0 ? 'A’s resource' : 'B’s resource';
          findings.push(
            ...about(`${what}, ${whose}`, refusalFindings(suite.service, 'unknown', reply)),
            ...about(`${what}, ${whose} differs from an unknown one`, compareResponses(reply, absent)),
          );
        }
      }
      return outcomeOf(findings);
    },
  }));
}

function strangers({ a }: Suite): readonly (readonly [string, Sender])[] {
  const [header = '', payload = '', signature = ''] = a.full.split('.');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
  const middle = Math.floor(signature.length / 2);
  const other = signature[middle] === 'A' ? 'B' : 'A';
  const forged = `${signature.slice(0, middle)}${other}${signature.slice(middle + 1)}`;
  return [
    ['no token', {}],
    ['a malformed token', { token: 'garbled' }],
    ['another signature', { token: `${header}.${payload}.${forged}` }],
    ['no signature', { token: `${unsigned}.${payload}.` }],
  ];
}

async function ownAsk(suite: Suite, subject: Subject) {
  const [own, others] = [await subject.own(suite.a), await subject.own(suite.b)];
  if (!own.ok) return own.error;
  return others.ok ? ([own.value, others.value] as const) : others.error;
}
