import type pg from 'pg';
import type { RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReaction } from '../kernel/reaction.ts';
import type { FoldFailure, WorkingSet } from './working-set.ts';
import { ReactionPage } from './reaction-page.ts';
import type { ReactionState } from './reaction-state.ts';

interface FoldParts {
  readonly reaction: AnyReaction;
  readonly state: ReactionState;
  readonly pool: pg.Pool;
}

/** What is left out when an event cannot be folded: the event, or the event and all later events of its stream. */
export type OnFoldFailure = 'leave out the event' | 'leave out the stream';

/** The rows after a page of history, one working set per tenant, and the events that could not be folded. */
export interface FoldedPage {
  readonly works: readonly WorkingSet[];
  readonly poisoned: readonly FoldFailure[];
}

/**
 * Folds events that were worked before into a reaction's state. Effects of the steps are dropped: they ran when the
 * events were first worked. Writes nothing: the caller saves the working sets.
 */
export async function foldWithoutEffects(
  parts: FoldParts,
  events: readonly RecordedEvent[],
  onPoison: OnFoldFailure,
): Promise<FoldedPage> {
  const works: WorkingSet[] = [];
  const poisoned: FoldFailure[] = [];
  for (const share of byTenant(events)) {
    const folded = await foldShare(parts, share, onPoison);
    works.push(folded.work);
    poisoned.push(...folded.poisoned);
  }
  return { works, poisoned };
}

function byTenant(events: readonly RecordedEvent[]): Iterable<RecordedEvent[]> {
  const tenants = new Map<TenantId, RecordedEvent[]>();
  for (const event of events) {
    const share = tenants.get(event.tenantId);
    if (share) share.push(event);
    else tenants.set(event.tenantId, [event]);
  }
  return tenants.values();
}

async function foldShare(
  { reaction, state, pool }: FoldParts,
  events: readonly RecordedEvent[],
  onPoison: OnFoldFailure,
): Promise<{ work: WorkingSet; poisoned: FoldFailure[] }> {
  const poisoned: FoldFailure[] = [];
  for (let rest = events; ;) {
    const page = new ReactionPage(reaction, rest);
    const poison = page.fold(await state.load(pool, page.missing));
    if (!poison) return { work: page.work, poisoned };
    poisoned.push(poison);
    const { stream, position } = poison.event;
    rest = rest.filter((event) =>
      onPoison === 'leave out the stream'
        ? event.stream !== stream || event.position < position
        : event.position !== position,
    );
  }
}
