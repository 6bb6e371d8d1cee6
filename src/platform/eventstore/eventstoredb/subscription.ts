import { START, STREAM_NAME } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import { logPosition, positionOf } from './positions.ts';
import { EVENT_STREAMS } from './stream-names.ts';

export interface SubscriptionListener {
  /** How long nothing may come, not even a checkpoint, before it is checked whether the feed has grown. */
  readonly watchdogMs: number;
  readonly stopped: AbortSignal;
  readonly confirmed: () => void;
  readonly grown: (position: Position) => void;
}

/** In pages of 32 events that were looked at: about 1000 lie between two checkpoints. */
const CHECKPOINT_PAGES = 30;

/** One subscription to everything after a position. It only ends by throwing: stopped, dropped or found deaf. */
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
    // A checkpoint is a sign of life. It may name the place of an event that is not written yet, so nothing is concluded from it.
    const subscription = subscribe(client, from, hear);
    // Before anything else: an error that nobody listens to would end the process.
    subscription.on('error', () => undefined);
    subscription.on('confirmation', listener.confirmed);
    const end = (reason: string) => void subscription.destroy(new Error(reason));
    const onStop = () => end('it was stopped');
    const forget = connection.onDiscard(() => end('its connection was given up'));
    const watchdog = setInterval(async () => {
      const stillQuiet = quiet;
      quiet = true;
      if (!stillQuiet) return;
      const { grown, position } = await lookAfter(feed, seen);
      if (grown) end('it did not tell of an event');
      else if (position > seen) seen = position;
    }, watchdogMs);
    stopped.addEventListener('abort', onStop);
    if (stopped.aborted) onStop();
    try {
      for await (const { commitPosition } of subscription) {
        if (commitPosition === undefined) continue;
        hear();
        seen = positionOf(commitPosition);
        listener.grown(seen);
      }
      throw new Error('the server ended it');
    } finally {
      clearInterval(watchdog);
      forget();
      stopped.removeEventListener('abort', onStop);
      // Leaving the loop does not end the call. Unsubscribing waits for a connection that may never come.
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
      // Never throws: a rejection here would stall the subscription for good.
      checkpointReached: () => heard(),
    },
  });

async function lookAfter(feed: AllStreamReader, after: Position): Promise<{ grown: boolean; position: Position }> {
  try {
    const { events, position } = await feed.read(after, 1);
    return { grown: events.length > 0, position };
  } catch {
    return { grown: false, position: after }; // a server that does not answer is dealt with by the read itself
  }
}
