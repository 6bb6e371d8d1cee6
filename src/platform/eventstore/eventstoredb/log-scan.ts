import { convertToCommandError } from '@eventstore/db-client/dist/utils/CommandError.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamsMessages from '@eventstore/db-client/generated/streams_pb.js';
import type { Readable } from 'node:stream';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { TimedOut } from './failures.ts';
import { ScannedEvent } from './scanned-event.ts';
import { logPosition, positionOf } from './positions.ts';

// The messages that the client package ships. Named imports of them type-check and fail at run time.
const { Empty } = sharedMessages;
const { ReadReq } = streamsMessages;
type ReadReq = InstanceType<typeof ReadReq>;
type ReadResp = InstanceType<typeof streamsMessages.ReadResp>;
type ScanCall = Readable & { cancel(): void };

/** Members that the client keeps for its subclasses; its version is pinned, and the tests of this adapter stand on them. */
interface Extensible {
  GRPCStreamCreator(
    service: typeof StreamsClient,
    name: string,
    call: (client: ReadingClient) => ScanCall,
  ): () => Promise<ScanCall>;
  callArguments(options: { requiresLeader: boolean }, call: { deadline: number }): unknown[];
}

interface ReadingClient {
  read(request: ReadReq, ...rest: unknown[]): ScanCall;
}

export interface LogScan {
  /** Begins with the first event after this position. */
  readonly after: Position;
  /** The server sends events of streams whose names match this expression, and no others. */
  readonly streams: string;
  /** How long nothing may come, not even a checkpoint. */
  readonly timeoutMs: number;
}

export interface LogScanVisitor {
  /** The next event. False ends the scan. */
  event(event: ScannedEvent): boolean;
  /** Everything up to here was looked at. False ends the scan. */
  passed(position: Position): boolean;
}

/** Events the server looks at for one page of a scan. Its default of 32 makes it fetch many pages where most events are not ours. */
const SEARCH_WINDOW = 256;
/** In search windows: about 1000 events lie between two checkpoints. */
const CHECKPOINT_WINDOWS = 4;

/**
 * Reads the log after a position, filtered by the server, until a visitor has enough or the end was reached. It is a subscription that is
 * ended when it has caught up: a plain read with a filter says nothing while the server passes over events of others, so a long stretch of
 * them would look like a server that is gone, and a reader could not write down how far it has come. The messages are taken as they come,
 * because the client's own subscription tells of checkpoints beside the events and not between them.
 */
export function scanLog(connection: Connection, scan: LogScan, visitor: LogScanVisitor): Promise<void> {
  return connection.call(async (client, heard) => {
    const call = await openWithin(scan.timeoutMs, client, requestFor(scan));
    // Before anything else: an error that nobody listens to would end the process.
    call.on('error', () => undefined);
    const giveUp = () => call.destroy(new TimedOut(scan.timeoutMs));
    const timer = setTimeout(giveUp, scan.timeoutMs);
    const forget = connection.onDiscard(giveUp);
    try {
      for await (const message of call as AsyncIterable<ReadResp>) {
        timer.refresh();
        heard();
        if (message.hasCaughtUp() || !takes(visitor, message)) return;
      }
      throw new TimedOut(scan.timeoutMs);
    } catch (error) {
      throw convertToCommandError(error as Error);
    } finally {
      forget();
      clearTimeout(timer);
      // Leaving the loop does not end the call. In another turn, because a call that is being closed does not hear of it.
      setImmediate(() => call.cancel());
    }
  });
}

function takes(visitor: LogScanVisitor, message: ReadResp): boolean {
  if (message.hasCheckpoint()) return visitor.passed(positionOf(BigInt(message.getCheckpoint()!.getCommitPosition())));
  const record = message.getEvent()?.getEvent();
  return record === undefined || visitor.event(new ScannedEvent(record));
}

/** Dialling waits for a connection that may never come. */
async function openWithin(timeoutMs: number, client: Client, request: ReadReq): Promise<ScanCall> {
  const inner = client as unknown as Extensible;
  const opening = inner.GRPCStreamCreator(StreamsClient, 'scanLog', (service) =>
    service.read(request, ...inner.callArguments({ requiresLeader: true }, { deadline: Infinity })),
  )();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([opening, late]);
  } catch (error) {
    opening.then(
      (call) => call.on('error', () => undefined).cancel(),
      () => undefined,
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function requestFor({ after, streams }: LogScan): ReadReq {
  const all = new ReadReq.Options.AllOptions();
  const from = logPosition(after);
  if (from)
    all.setPosition(
      new ReadReq.Options.Position().setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare)),
    );
  else all.setStart(new Empty());
  const filter = new ReadReq.Options.FilterOptions()
    .setStreamIdentifier(new ReadReq.Options.FilterOptions.Expression().setRegex(streams))
    .setMax(SEARCH_WINDOW)
    .setCheckpointintervalmultiplier(CHECKPOINT_WINDOWS);
  const options = new ReadReq.Options()
    .setAll(all)
    .setSubscription(new ReadReq.Options.SubscriptionOptions())
    .setFilter(filter)
    .setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty()));
  return new ReadReq().setOptions(options);
}
