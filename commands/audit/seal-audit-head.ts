import { auditHead, auditHeadStream, type SealedHead } from '../../src/contexts/audit/domain/sealed-head.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

/** Appends a seal, made with the audit key, to the log. If two processes seal the same head, one seal is enough. */
export const sealAuditHead = defineCommand({
  name: 'SealAuditHead',
  aggregate: auditHead,
  stream: (_: SealedHead, { tenantId }) => auditHeadStream(tenantId),
  decide(newest, seal) {
    if (newest.sequence >= seal.sequence) return accept([]);
    if (newest.mac !== seal.previous) return conflict('audit_head_moved');
    return accept([{ type: 'AuditHeadSealed', data: seal }]);
  },
  tail: 1,
});
