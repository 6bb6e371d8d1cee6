import { softwareUpdate, softwareUpdateStream } from '../../src/contexts/updates/domain/software-update.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndUpdateCheck {
  readonly checkId: string;
  readonly found: { readonly version: string; readonly releaseNotes: string | null } | null;
  readonly failure: string | null;
}

/** Records what the feed said. A check that took too long was given up, and its result does not count. */
export const endUpdateCheck = defineCommand({
  name: 'EndUpdateCheck',
  aggregate: softwareUpdate,
  stream: (_input: EndUpdateCheck) => softwareUpdateStream(),
  decide: ({ check }, input, { now }) =>
    accept(
      check?.checkId === input.checkId
        ? [{ type: 'UpdateCheckEnded', data: { ...input, checkedAt: new Date(now).toISOString() } }]
        : [],
    ),
  freshens: ['software_updates'],
});
