import { recovery, recoveryStream } from '../../src/contexts/identity/domain/recovery-refusals.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RefuseRecovery {
  readonly reason: 'wrong_key' | 'unknown_account' | 'ambiguous_account';
}

/** For the audit log: an account recovery was refused. */
export const refuseRecovery = defineCommand({
  name: 'RefuseRecovery',
  aggregate: recovery,
  stream: (_input: RefuseRecovery, { tenantId, id }) => recoveryStream(tenantId, id),
  begins: true,
  decide: ({ refused }, input) => accept(refused ? [] : [{ type: 'RecoveryRefused', data: input }]),
});
