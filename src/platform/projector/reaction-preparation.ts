import type { Logger } from 'pino';
import { versionOf, type AnyReaction } from '../kernel/reaction.ts';
import type { CatchUpSubscription } from './catch-up-subscription.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { ReactionState } from './reaction-state.ts';
import { handOverReactionState } from './reaction-state-handover.ts';

export interface PreparationServices {
  readonly checkpoints: Checkpoints;
  readonly subscription: Pick<CatchUpSubscription, 'head'>;
  readonly log: Logger;
}

/**
 * Makes checkpoint and state of a reaction if there are none. A new reaction begins at the current end of the log:
 * earlier events were handled otherwise or not meant for it. A new version begins where the previous version stopped.
 */
export async function prepareReaction(
  reaction: AnyReaction,
  state: ReactionState,
  services: PreparationServices,
): Promise<void> {
  const { name, lane } = reaction;
  const key = { name, version: versionOf(reaction), generation: 1 };
  await services.checkpoints.ensure(
    { ...key, lane, kind: 'reaction', state: 'live', position: services.subscription.head },
    async (client) => {
      await state.create(client);
      await handOverReactionState(client, key, state);
    },
  );
  await tellOfNewerVersion(key, services);
}

/** After a rollback of the software, this process must not act: the newer version's checkpoint counts. */
async function tellOfNewerVersion(
  { name, version }: { readonly name: string; readonly version: number },
  { checkpoints, log }: PreparationServices,
): Promise<void> {
  const others = await checkpoints.reactionVersions(name);
  for (const newer of others.filter((other) => other.version > version && other.state !== 'retired'))
    log.error(
      { reaction: name, version, newer: newer.version },
      'a newer version of this reaction has taken over: this process does not run it, and its events wait',
    );
}
