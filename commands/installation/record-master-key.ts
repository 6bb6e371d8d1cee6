import { masterKeyRecord, masterKeyStream } from '../../src/contexts/installation/domain/master-key.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface RecordMasterKey {
  readonly fingerprint: string;
  readonly retired: readonly string[];
}

/** For the audit log: only this master key opens sealed keys from now on. */
export const recordMasterKey = defineCommand({
  name: 'RecordMasterKey',
  aggregate: masterKeyRecord,
  stream: (_input: RecordMasterKey) => masterKeyStream(),
  decide: (state, { fingerprint, retired }) =>
    accept(
      state.fingerprint === fingerprint
        ? []
        : [{ type: 'MasterKeyReplaced', data: { fingerprint, retired: [...retired] } }],
    ),
});
