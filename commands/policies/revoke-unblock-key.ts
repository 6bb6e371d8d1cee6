import { unblockKey, unblockKeyStream } from '../../src/contexts/policies/domain/unblock-key.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeUnblockKey {
  readonly unblockKeyId: string;
}

/** Ends a key that was not used. Its claim stays, because nobody knows the key: a new one never equals it. Idempotent. */
export const revokeUnblockKey = defineCommand({
  name: 'RevokeUnblockKey',
  aggregate: unblockKey,
  stream: ({ unblockKeyId }: RevokeUnblockKey, { tenantId }) => unblockKeyStream(tenantId, unblockKeyId),
  decide({ status }, { unblockKeyId }) {
    if (status === 'none') return notFound();
    return accept(status === 'active' ? [{ type: 'UnblockKeyRevoked', data: { unblockKeyId } }] : []);
  },
  freshens: ['unblock_keys'],
});
