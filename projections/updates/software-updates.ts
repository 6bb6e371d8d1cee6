import { softwareUpdateEvents } from '../../src/contexts/updates/domain/events.ts';
import {
  foldSoftwareUpdate,
  NO_UPDATES,
  type SoftwareUpdateState,
} from '../../src/contexts/updates/domain/software-update.ts';
import { defineReadModel, json, text, type Column, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  /** The installation has one state. */
  role: text as Column<'installation'>,
  state: json<SoftwareUpdateState>(),
};
export type SoftwareUpdateRow = Row<{ columns: typeof columns }>;

const change = (event: Parameters<typeof foldSoftwareUpdate>[1]) => ({
  key: { role: 'installation' as const },
  fold: (row: SoftwareUpdateRow | undefined) => ({
    role: 'installation' as const,
    state: foldSoftwareUpdate(row?.state ?? NO_UPDATES, event),
  }),
});

/** The state of updates, as decisions see it. */
export const softwareUpdates = defineReadModel({
  name: 'software_updates',
  version: 2,
  lane: 'main',
  columns,
  key: ['role'],
  families: [softwareUpdateEvents],
  on: {
    UpdateCheckBegun: change,
    UpdateCheckEnded: change,
    UpdateDownloadBegun: change,
    UpdateDownloadEnded: change,
    UpdateStaged: change,
    UpdateBegun: change,
    UpdateCommandStarted: change,
    UpdateEnded: change,
  },
});
