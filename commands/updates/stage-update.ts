import type { StoredBundle } from '../../src/contexts/updates/domain/events.ts';
import { softwareUpdate, softwareUpdateStream } from '../../src/contexts/updates/domain/software-update.ts';
import { isNewerThan } from '../../src/contexts/updates/domain/software-version.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';

interface StageUpdate {
  readonly bundle: StoredBundle;
  readonly runningVersion: string;
}

/** Stages a bundle whose bytes are stored and whose signature was checked. It replaces one that was not applied. */
export const stageUpdate = defineCommand({
  name: 'StageUpdate',
  aggregate: softwareUpdate,
  stream: (_input: StageUpdate) => softwareUpdateStream(),
  decide({ underWay, installedVersion, staged }, { bundle, runningVersion }) {
    if (underWay) return conflict('update_under_way');
    if (!isNewerThan(bundle.version, runningVersion, installedVersion)) return conflict('update_not_newer');
    return acceptWith({ replaced: staged?.bundleId }, [{ type: 'UpdateStaged', data: { bundle } }]);
  },
  freshens: ['software_updates'],
});
