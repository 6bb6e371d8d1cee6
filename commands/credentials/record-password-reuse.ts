import { credentialReuse, credentialReuseStream } from '../../src/contexts/credentials/domain/credential-reuse.ts';
import type { CredentialReuseEvent } from '../../src/contexts/credentials/domain/events.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

type RecordPasswordReuse = CredentialReuseEvent['data'];

/** Records that a password was entered on one more site. A known site is ignored, however often it is reported. */
export const recordPasswordReuse = defineCommand({
  name: 'RecordPasswordReuse',
  aggregate: credentialReuse,
  stream: ({ reuseId }: RecordPasswordReuse, { tenantId }) => credentialReuseStream(tenantId, reuseId),
  decide({ domains }, input) {
    if (domains.includes(input.domain)) return accept([]);
    const all = [...new Set([...domains, ...input.domains, input.domain])];
    return accept([{ type: 'PasswordReuseDetected', data: { ...input, domains: all } }]);
  },
});
