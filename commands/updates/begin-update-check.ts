import { isChecking, softwareUpdate, softwareUpdateStream } from '../../src/contexts/updates/domain/software-update.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';

/** Longer than the feed may take. */
const CHECK_MS = 30_000;

/** Only one process at a time asks the feed. `isMine` is false for the others. */
export const beginUpdateCheck = defineCommand({
  name: 'BeginUpdateCheck',
  aggregate: softwareUpdate,
  stream: (_input: { readonly checkId: string }) => softwareUpdateStream(),
  decide(state, { checkId }, { now }) {
    if (isChecking(state, now)) return acceptWith({ isMine: state.check?.checkId === checkId }, []);
    const until = new Date(now + CHECK_MS).toISOString();
    return acceptWith({ isMine: true }, [{ type: 'UpdateCheckBegun', data: { checkId, until } }]);
  },
  freshens: ['software_updates'],
});
