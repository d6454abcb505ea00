/** Embeds a report of the sandbox. The names of the standards, and what builds on what, come from a CASE package. */
import { createSandboxClient } from 'mastery-reports-client';
import 'mastery-reports-element';

interface CasePackage {
  readonly CFItems: readonly { readonly identifier: string; readonly fullStatement: string }[];
  readonly CFAssociations: readonly {
    readonly associationType: string;
    readonly originNodeURI: { readonly identifier: string };
    readonly destinationNodeURI: { readonly identifier: string };
  }[];
}

const element = document.createElement('mastery-report');
const { CFItems, CFAssociations } = (await (await fetch('case-package.json')).json()) as CasePackage;
element.names = new Map(CFItems.map(({ identifier, fullStatement }) => [identifier, fullStatement]));
element.precedes = CFAssociations.filter(({ associationType }) => associationType === 'precedes').map(
  ({ originNodeURI, destinationNodeURI }) => [originNodeURI.identifier, destinationNodeURI.identifier],
);
element.learner = 'Ben';
const sandbox = createSandboxClient({ baseUrl: new URL('/sandbox', location.href).href });
const attempt = { attemptId: 'sandbox-attempt-adaptive-diagnostic', view: 'evidence' } as const;
element.load = async (signal) => ({
  kind: 'attempt',
  report: (await sandbox.readAttemptReport(attempt, { signal })).data,
});
document.querySelector('main')?.append(element);
