import { START, STREAM_NAME } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import { logPosition, positionOf } from './positions.ts';
import { EVENT_STREAMS } from './stream-names.ts';
import { whenAborted } from '../../kernel/when-aborted.ts';

export interface SubscriptionListener {
  /** The longest silence, without even a checkpoint, before the log is checked for growth, in milliseconds. */
  readonly watchdogMs: number;
  readonly stopped: AbortSignal;
  readonly confirmed: () => void;
  readonly grown: (position: Position) => void;
}

/** In pages of 32 examined events: about 1000 events between two checkpoints. */
const CHECKPOINT_PAGES = 30;

/** Subscribes to all events after a position. Only ends by throwing: when stopped, dropped, or found to miss events. */
export function subscribeToAll(
  connection: Connection,
  feed: AllStreamReader,
  from: Position,
  listener: SubscriptionListener,
): Promise<never> {
  const { stopped, watchdogMs } = listener;
  return connection.call(async (client, heard) => {
    let seen = from;
    let quiet = false;
    const hear = () => {
      heard();
      quiet = false;
    };
    // A checkpoint is only a sign of life: it may name the position of an event that is not written yet.
    const subscription = subscribe(client, from, hear);
    // Must be first: an error event without a listener would end the process.
    subscription.on('error', () => undefined);
    subscription.on('confirmation', listener.confirmed);
    const end = (reason: string) => void subscription.destroy(new Error(reason));
    const onStop = () => end('the subscription was stopped');
    const forget = connection.onDiscard(() => end('the connection was discarded'));
    const watchdog = setInterval(async () => {
      const stillQuiet = quiet;
      quiet = true;
      if (!stillQuiet) return;
      const { grown, position } = await lookAfter(feed, seen);
      if (grown) end('the subscription missed an event');
      else if (position > seen) seen = position;
    }, watchdogMs);
    const stopWaiting = whenAborted(stopped, onStop);
    try {
      for await (const { commitPosition } of subscription) {
        if (commitPosition === undefined) continue;
        hear();
        seen = positionOf(commitPosition);
        listener.grown(seen);
      }
      throw new Error('the server ended the subscription');
    } finally {
      clearInterval(watchdog);
      forget();
      stopWaiting();
      // Leaving the loop does not end the call. Do not await this: unsubscribing waits for a connection that may never
      // come.
      subscription.unsubscribe().catch(() => undefined);
    }
  });
}

const subscribe = (client: Client, from: Position, heard: () => void) =>
  client.subscribeToAll({
    fromPosition: logPosition(from) ?? START,
    requiresLeader: true,
    filter: {
      filterOn: STREAM_NAME,
      regex: EVENT_STREAMS,
      checkpointInterval: CHECKPOINT_PAGES,
      // Must not throw: a rejection here would stall the subscription permanently.
      checkpointReached: () => heard(),
    },
  });

async function lookAfter(feed: AllStreamReader, after: Position): Promise<{ grown: boolean; position: Position }> {
  try {
    const { events, position } = await feed.read(after, 1);
    return { grown: events.length > 0, position };
  } catch {
    return { grown: false, position: after }; // the read itself handles a server that does not respond
  }
}
