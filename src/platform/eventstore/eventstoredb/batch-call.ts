import { convertToCommandError, UnavailableError } from '@eventstore/db-client';
import type * as Grpc from '@grpc/grpc-js';
import { batchRequest, correlationIdOf, type AppendRequest } from './batch-request.ts';
import { NodeNotReady, outcomeOf } from './batch-response.ts';
import type { Client } from './client.ts';
import { TimedOut } from './failures.ts';
import { StreamsClient, UNIMPLEMENTED, type BatchAppendReq, type BatchAppendResp } from './protocol.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

type LongCall = Grpc.ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/** Private members of the client. Its version is pinned, and tests cover the members used here. */
interface CallOpener {
  /** Opens a call that ends with the client. Some errors of the call make the client reconnect. */
  GRPCStreamCreator(
    service: typeof StreamsClient,
    name: string,
    creator: (streams: StreamsClient) => LongCall,
  ): () => Promise<LongCall>;
  callArguments(
    options: { requiresLeader: boolean },
    callOptions: { deadline: number },
  ): [Grpc.Metadata, Partial<Grpc.CallOptions>];
}

interface Pending {
  readonly stream: string;
  readonly timer: NodeJS.Timeout;
  /** Reports that the server responded, so it is alive. */
  readonly heard: () => void;
  readonly resolve: (outcome: WriteSucceeded | WriteConflict) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One BatchAppend call, for any number of concurrent appends. It keeps its own table of pending appends, each with a
 * deadline by this process's monotonic clock. When the call ends, the outcome of all pending appends is unknown.
 */
export class BatchCall {
  readonly #pending = new Map<string, Pending>();
  readonly #call: LongCall;
  readonly #ended: (error: Error) => void;
  #over = false;

  private constructor(call: LongCall, ended: (error: Error) => void) {
    this.#call = call;
    this.#ended = ended;
    // Must be first: an error event without a listener would end the process.
    call.on('error', (error) => this.#end(convertToCommandError(error) as Error));
    call.on('end', () => this.#end(new UnavailableError(undefined, 'the server ended the batch call')));
    call.on('data', (response: BatchAppendResp) => this.#respond(response));
  }

  /** Calls `ended` once, when the call accepts no further appends. */
  static async open(client: Client, ended: (error: Error) => void): Promise<BatchCall> {
    const opener = client as unknown as CallOpener;
    let batch: BatchCall | undefined;
    const open = opener.GRPCStreamCreator(StreamsClient, 'batchAppend', (streams) => {
      const call = streams.batchAppend(...opener.callArguments({ requiresLeader: true }, { deadline: Infinity }));
      batch = new BatchCall(call, ended);
      return call;
    });
    await open();
    return batch!;
  }

  append(request: AppendRequest, timeoutMs: number, heard: () => void): Promise<WriteSucceeded | WriteConflict> {
    if (this.#over) return Promise.reject(new UnavailableError(undefined, 'the batch call has ended'));
    const { correlationId, message } = batchRequest(request);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#pending.delete(correlationId);
        reject(new TimedOut(timeoutMs));
      };
      this.#pending.set(correlationId, {
        stream: request.stream,
        timer: setTimeout(giveUp, timeoutMs),
        heard,
        resolve,
        reject,
      });
      // Ignores backpressure: `AppendCalls` limits the number of pending appends, and buffered ones end with the call.
      this.#call.write(message);
    });
  }

  close(): void {
    this.#end(new UnavailableError(undefined, 'the batch call was closed'));
    this.#call.cancel();
  }

  /** Ignores responses to appends that have timed out. */
  #respond(response: BatchAppendResp): void {
    const correlationId = correlationIdOf(response.getCorrelationId());
    const pending = this.#pending.get(correlationId);
    if (!pending) return;
    this.#pending.delete(correlationId);
    clearTimeout(pending.timer);
    pending.heard();
    const outcome = outcomeOf(response, pending.stream);
    if (!(outcome instanceof Error)) return pending.resolve(outcome);
    pending.reject(outcome);
    if (outcome instanceof NodeNotReady) this.#leave(outcome);
  }

  /** Ends the call with an error that makes the client look for another node. */
  #leave(reason: NodeNotReady): void {
    this.#end(reason);
    this.#call.destroy(reason);
    this.#call.cancel();
  }

  #end(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended(error);
    // The caller retries these, then in single calls.
    const reason = isUnknownMethod(error) ? new UnavailableError(undefined, 'the server has no batch call') : error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer, reject } of pending) {
      clearTimeout(timer);
      reject(reason);
    }
  }
}

/** The server has no batch call: it does not list it, or returns UNIMPLEMENTED. */
export class NoBatchCall extends Error {
  readonly code = UNIMPLEMENTED;
}

export const isUnknownMethod = (error: unknown): boolean => (error as { code?: unknown }).code === UNIMPLEMENTED;
