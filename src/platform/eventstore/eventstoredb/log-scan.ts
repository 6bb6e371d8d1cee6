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

/**
 * Members that the client keeps for its subclasses. Its version is pinned, and the tests of this adapter depend on
 * them.
 */
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

export interface LogScanRequest {
  /** The scan starts with the first event after this position. */
  readonly after: Position;
  /** The server only sends events of streams whose names match this regular expression. */
  readonly streams: string;
  /** The longest time without a message, not even a checkpoint, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Set if the end of the log is near: reads at most this many records, and leaves out those of others here. That takes a
   * quarter of the time of a filtered call.
   */
  readonly records?: number | undefined;
}

export interface LogScanVisitor {
  /** Gets the next event. Returning false ends the scan. */
  event(event: ScannedEvent): boolean;
  /** Everything up to this position was looked at. Returning false ends the scan. */
  passed(position: Position): boolean;
}

/**
 * Events the server examines for one page of a scan. Its default of 32 makes it fetch many pages where most events are
 * not ours.
 */
const SEARCH_WINDOW = 256;
/** In search windows: about 1000 events between two checkpoints. */
const CHECKPOINT_WINDOWS = 4;

/** How a visit ended: the end of the log was reached, or the visitor had enough. */
export type VisitEnd = 'caughtUp' | 'stopped';

/**
 * Reads the log after a position, filtered by the server. It uses a subscription and ends it when it has caught up,
 * unless the end is near. A filtered read sends nothing while the server skips events of others: a long stretch of them
 * would look like a dead server, and a reader could not save its checkpoint. It reads the raw messages, because the client's own subscription
 * reports checkpoints out of order with the events.
 *
 * A scan that stopped can go on with the next message, without the cost of a new call.
 */
export class LogScan {
  readonly #connection: Connection;
  readonly #call: ScanCall;
  readonly #messages: AsyncIterator<ReadResp>;
  readonly #timeoutMs: number;
  /** Records that a call without a filter may still send; undefined for a subscription, which never ends by itself. */
  #left: number | undefined;
  readonly #streams: RegExp;
  readonly #forget: () => void;
  #isClosed = false;
  #hasFailed = false;

  /** Opens a scan and visits what it finds first. The scan is closed afterwards, unless the visitor had enough. */
  static start(
    connection: Connection,
    request: LogScanRequest,
    visitor: LogScanVisitor,
  ): Promise<{ readonly end: VisitEnd; readonly scan: LogScan }> {
    return connection.call(async (client, heard) => {
      const call = await openWithin(request.timeoutMs, client, messageFor(request));
      const scan = new LogScan(connection, call, request);
      return { end: await scan.#visit(visitor, heard), scan };
    });
  }

  private constructor(connection: Connection, call: ScanCall, { timeoutMs, records, streams }: LogScanRequest) {
    this.#connection = connection;
    this.#call = call;
    this.#timeoutMs = timeoutMs;
    this.#left = records;
    this.#streams = new RegExp(streams);
    // Must be first: an error event without a listener would end the process.
    call.on('error', () => (this.#hasFailed = true));
    this.#messages = (call as AsyncIterable<ReadResp>)[Symbol.asyncIterator]();
    this.#forget = connection.onDiscard(() => this.#giveUp());
  }

  /** False after the connection was lost or the server has ended the call. Then nothing is left to read. */
  get isOpen(): boolean {
    return !this.#isClosed && !this.#hasFailed;
  }

  /** Continues with the message after the last one that was visited. */
  goOn(visitor: LogScanVisitor): Promise<VisitEnd> {
    return this.#connection.call((_client, heard) => this.#visit(visitor, heard));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    // In a later tick, because a call that is being closed ignores it. Cancelling does nothing if the server has ended the
    // call: what it sent is still buffered, and a connection waits for the end of each stream before it closes.
    setImmediate(() => {
      this.#call.cancel();
      this.#call.destroy();
    });
  }

  async #visit(visitor: LogScanVisitor, heard: () => void): Promise<VisitEnd> {
    const timer = setTimeout(() => this.#giveUp(), this.#timeoutMs);
    try {
      for (;;) {
        const { value: message, done } = (await this.#messages.next()) as IteratorResult<ReadResp, undefined>;
        if (done && this.#left === undefined) throw new TimedOut(this.#timeoutMs);
        timer.refresh();
        heard();
        if (done || message.hasCaughtUp()) {
          this.close();
          return this.#left === 0 ? 'stopped' : 'caughtUp';
        }
        if (!this.#takes(visitor, message)) return 'stopped';
      }
    } catch (error) {
      this.close();
      throw convertToCommandError(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  #takes(visitor: LogScanVisitor, message: ReadResp): boolean {
    if (message.hasCheckpoint())
      return visitor.passed(positionOf(BigInt(message.getCheckpoint()!.getCommitPosition())));
    const record = message.getEvent()?.getEvent();
    if (record === undefined) return true;
    const event = new ScannedEvent(record);
    if (this.#left === undefined) return visitor.event(event);
    this.#left -= 1;
    return this.#streams.test(event.streamId)
      ? visitor.event(event)
      : visitor.passed(positionOf(event.position.commit));
  }

  #giveUp(): void {
    this.#hasFailed = true;
    this.#call.destroy(new TimedOut(this.#timeoutMs));
  }
}

/** Opening a call waits for a connection that may never come. */
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
      (call) => {
        call.on('error', () => undefined).cancel();
        call.destroy();
      },
      () => undefined,
    );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function messageFor({ after, streams, records }: LogScanRequest): ReadReq {
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
    .setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty()));
  if (records === undefined) options.setSubscription(new ReadReq.Options.SubscriptionOptions()).setFilter(filter);
  else options.setCount(String(records)).setNoFilter(new Empty());
  return new ReadReq().setOptions(options);
}
