import { convertToCommandError, UnavailableError } from '@eventstore/db-client';
import type * as Grpc from '@grpc/grpc-js';
import { batchRequest, correlationIdOf, type AppendRequest } from './batch-request.ts';
import { NodeNotReady, outcomeOf } from './batch-response.ts';
import type { Client } from './client.ts';
import { TimedOut } from './failures.ts';
import { StreamsClient, UNIMPLEMENTED, type BatchAppendReq, type BatchAppendResp } from './protocol.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

type LongCall = Grpc.ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/** Members that the client keeps for itself and its subclasses; its version is pinned, and tests cover what is used of them. */
interface CallOpener {
  /** Opens a call that ends with the client; an error of it makes the client dial again, if it is one of those that call for it. */
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
  /** Something came back: the peer is alive. */
  readonly heard: () => void;
  readonly resolve: (outcome: WriteSucceeded | WriteConflict) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One BatchAppend call, for any number of appends at a time. What is pending is this call's own, each append with a deadline by a
 * clock of this process. When the call ends, for whatever reason, the outcome of all that is pending is unknown.
 */
export class BatchCall {
  readonly #pending = new Map<string, Pending>();
  readonly #call: LongCall;
  readonly #ended: (error: Error) => void;
  #over = false;

  private constructor(call: LongCall, ended: (error: Error) => void) {
    this.#call = call;
    this.#ended = ended;
    // Before anything else: an error that nobody listens to would end the process.
    call.on('error', (error) => this.#end(convertToCommandError(error) as Error));
    call.on('end', () => this.#end(new UnavailableError(undefined, 'the server ended the batch call')));
    call.on('data', (response: BatchAppendResp) => this.#respond(response));
  }

  /** Calls `ended` once, when no further append can be made through it. */
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
      // Nothing waits for room: as many appends are under way as `AppendCalls` allows, and what lies here ends with the call.
      this.#call.write(message);
    });
  }

  close(): void {
    this.#end(new UnavailableError(undefined, 'the batch call was closed'));
    this.#call.cancel();
  }

  /** A response to an append that was given up is not looked for any more. */
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

  /** Ends the call with an error after which the client looks for another node. */
  #leave(reason: NodeNotReady): void {
    this.#end(reason);
    this.#call.destroy(reason);
    this.#call.cancel();
  }

  #end(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended(error);
    // The caller repeats these, then in calls of their own.
    const reason = isUnknownMethod(error) ? new UnavailableError(undefined, 'the server has no batch call') : error;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer, reject } of pending) {
      clearTimeout(timer);
      reject(reason);
    }
  }
}

/** The server has no batch call: it does not list it, or refuses it as unknown. */
export class NoBatchCall extends Error {
  readonly code = UNIMPLEMENTED;
}

export const isUnknownMethod = (error: unknown): boolean => (error as { code?: unknown }).code === UNIMPLEMENTED;
