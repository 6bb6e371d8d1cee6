import { START, STREAM_NAME } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import type { FeedReader } from './feed-reader.ts';
import { logPosition, positionOf } from './positions.ts';
import { EVENT_STREAMS } from './stream-names.ts';

export interface Listener {
  /** How long nothing may come, not even a checkpoint, before it is checked whether the feed has grown. */
  readonly watchdogMs: number;
  readonly stopped: AbortSignal;
  readonly confirmed: () => void;
  readonly grown: (position: Position) => void;
}

/** In pages of 32 events that were looked at: about 1000 lie between two checkpoints. */
const CHECKPOINT_PAGES = 30;

/** One subscription to everything after a position. It only ends by throwing: stopped, dropped or found deaf. */
export function listen(connection: Connection, feed: FeedReader, from: Position, listener: Listener): Promise<never> {
  const { stopped, watchdogMs } = listener;
  return connection.call(async (client, heard) => {
    let seen = from;
    let quiet = false;
    const hear = (position: Position) => {
      heard();
      quiet = false;
      seen = position;
    };
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
      if (stillQuiet && (await hasGrown(feed, seen))) end('it did not tell of an event');
    }, watchdogMs);
    stopped.addEventListener('abort', onStop);
    if (stopped.aborted) onStop();
    try {
      for await (const { commitPosition } of subscription) {
        if (commitPosition === undefined) continue;
        hear(positionOf(commitPosition));
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

const subscribe = (client: Client, from: Position, looked: (position: Position) => void) =>
  client.subscribeToAll({
    fromPosition: logPosition(from) ?? START,
    requiresLeader: true,
    filter: {
      filterOn: STREAM_NAME,
      regex: EVENT_STREAMS,
      checkpointInterval: CHECKPOINT_PAGES,
      // Never throws: a rejection here would stall the subscription for good.
      checkpointReached: (_subscription, { commit }) => looked(positionOf(commit)),
    },
  });

async function hasGrown(feed: FeedReader, position: Position): Promise<boolean> {
  try {
    return (await feed.read(position, 1)).events.length > 0;
  } catch {
    return false; // a server that does not answer is dealt with by the read itself
  }
}
