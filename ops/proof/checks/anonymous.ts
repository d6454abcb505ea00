import { outcomeOf } from '../check.ts';
import type { Check } from '../check.ts';
import { withRandomIds } from '../random-ids.ts';
import { refusalFindings } from '../replies.ts';
import { about, titleOf } from '../suite.ts';
import type { Subject, Suite } from '../suite.ts';
import type { Sender } from '../target.ts';
import { tellApart } from '../tell-apart.ts';

/** Whoever is not known is told so, alike for what is there and for what is not [RP-024, RP-226, MA-021]. */
export function anonymousChecks(suite: Suite): readonly Check[] {
  return suite.subjects.map((subject) => ({
    group: 'anonymous',
    subject: subject.name,
    side: 'both',
    title: 'nobody is answered without a valid token',
    asked: `${titleOf(subject)} for A’s and B’s own and for what nobody has: no token, a garbled one, A’s with another signature, A’s unsigned`,
    run: async () => {
      const findings: string[] = [];
      for (const [what, sender] of strangers(suite)) {
        const made = await ownAsk(suite, subject);
        if (typeof made === 'string') return outcomeOf([made]);
        const absent = await suite.target.send(withRandomIds(made[0]), sender);
        findings.push(...about(`${what}, nobody’s`, refusalFindings(suite.service, 'unknown', absent)));
        for (const [at, ask] of made.entries()) {
          const reply = await suite.target.send(ask, sender);
          const whose = at === 0 ? 'A’s' : 'B’s';
          findings.push(
            ...about(`${what}, ${whose}`, refusalFindings(suite.service, 'unknown', reply)),
            ...about(`${what}, ${whose} and nobody’s can be told apart`, tellApart(reply, absent)),
          );
        }
      }
      return outcomeOf(findings);
    },
  }));
}

/** What somebody sends who cannot be known. */
function strangers({ a }: Suite): readonly (readonly [string, Sender])[] {
  const [header = '', payload = '', signature = ''] = a.full.split('.');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
  const middle = Math.floor(signature.length / 2);
  const other = signature[middle] === 'A' ? 'B' : 'A';
  const forged = `${signature.slice(0, middle)}${other}${signature.slice(middle + 1)}`;
  return [
    ['no token', {}],
    ['a garbled token', { token: 'garbled' }],
    ['another signature', { token: `${header}.${payload}.${forged}` }],
    ['no signature', { token: `${unsigned}.${payload}.` }],
  ];
}

async function ownAsk(suite: Suite, subject: Subject) {
  const [own, others] = [await subject.own(suite.a), await subject.own(suite.b)];
  if (!own.ok) return own.error;
  return others.ok ? ([own.value, others.value] as const) : others.error;
}
