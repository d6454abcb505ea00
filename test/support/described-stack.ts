import { describeFixtures, type StackDescription } from '#shared/stage/description.ts';
import { createSigner } from './release.ts';

const { key: releaseKey } = createSigner();

/** The description of a stack that serves nothing: of this process, but for what is given. */
export function describedStack(given: Partial<StackDescription>): StackDescription {
  const url = 'http://127.0.0.1:1';
  return {
    reportsUrl: url,
    masteryUrl: url,
    sandboxUrl: url,
    problemsUrl: url,
    receiptsUrl: url,
    docsUrl: url,
    explorerUrl: url,
    platformUrl: url,
    awsUrl: url,
    tenants: [{ tenantId: 'tenant', sub: 'sub', role: 'role', playerToken: 'token' }],
    fixtures: describeFixtures(
      {},
      { masteryGateAttempt: 'a', adaptiveDiagnosticAttempt: 'b', candidate: 'c', form: 'd' },
    ),
    releaseKey,
    pid: process.pid,
    seedDirectory: '/seed',
    logFile: '/log',
    ...given,
  };
}
