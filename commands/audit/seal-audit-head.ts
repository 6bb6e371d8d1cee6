import { auditHead, auditHeadStream, type SealedHead } from '../../src/contexts/audit/domain/sealed-head.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

/** Puts a seal that somebody with the key has made into the log. Of two who seal the same head one is enough. */
export const sealAuditHead = defineCommand({
  name: 'SealAuditHead',
  aggregate: auditHead,
  stream: (_: SealedHead, { tenantId }) => auditHeadStream(tenantId),
  decide(newest, seal) {
    if (newest.sequence >= seal.sequence) return accept([]);
    if (newest.mac !== seal.previous) return conflict('another head was sealed in the meantime');
    return accept([{ type: 'AuditHeadSealed', data: seal }]);
  },
  tail: 1,
});
