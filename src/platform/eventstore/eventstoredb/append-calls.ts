import { BatchCall, isUnknownMethod, NoBatchCall } from './batch-call.ts';
import type { AppendRequest } from './batch-request.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { abandonAfter, type Deadline } from './deadline.ts';
import { isTransient } from './failures.ts';
import { listsBatchAppend } from './server-methods.ts';
import { appendSingly } from './single-append.ts';
import { CallLimiter } from './call-limiter.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

/** More concurrent appends would only wait in the server, and exceed its limit of two seconds when its disk is slow. */
const MAX_APPENDS = 256;
/** A server takes 100 calls on a connection by default. More calls queue up and are rejected in large numbers. */
const MAX_CALLS = 64;

/** The batch call of one client, from the moment it starts to open. */
interface Line {
  readonly client: Client;
  readonly opening: Promise<BatchCall>;
  /** Set as soon as it is open, so that most appends need not wait for a promise. */
  call?: BatchCall;
}

/**
 * Sends appends to the server: all through one long batch call per connection, or in single calls if the server does
 * not list the batch call. The next append replaces a batch call that has ended.
 */
export class AppendCalls {
  readonly #connection: Connection;
  readonly #appends = new CallLimiter(MAX_APPENDS);
  readonly #calls = new CallLimiter(MAX_CALLS);
  readonly #withoutBatch = new WeakSet<Client>();
  #line: Line | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.onDiscard(() => this.#hangUp());
  }

  /** Tries an append once. Throws an `isTransient` error if the outcome is unknown. */
  append(request: AppendRequest, deadline: Deadline): Promise<WriteSucceeded | WriteConflict> {
    return this.#appends.run(deadline.remainingMs, () =>
      this.#connection.call((client, heard) => this.#send(client, request, deadline, heard)),
    );
  }

  async #send(
    client: Client,
    request: AppendRequest,
    deadline: Deadline,
    heard: () => void,
  ): Promise<WriteSucceeded | WriteConflict> {
    const call = this.#openCall(client) ?? (await this.#callOf(client, deadline.callMs()));
    if (call) return call.append(request, deadline.callMs(), heard);
    try {
      return await this.#calls.run(deadline.remainingMs, () => appendSingly(client, request, deadline.callMs()));
    } catch (error) {
      // After a reconnect the same address may lead to another server.
      if (isTransient(error)) this.#withoutBatch.delete(client);
      throw error;
    }
  }

  #openCall(client: Client): BatchCall | undefined {
    return this.#line?.client === client ? this.#line.call : undefined;
  }

  /** Undefined if the server has no batch call. */
  async #callOf(client: Client, callMs: number): Promise<BatchCall | undefined> {
    if (this.#withoutBatch.has(client)) return undefined;
    if (this.#line?.client !== client) this.#line = this.#dial(client, callMs);
    try {
      return await abandonAfter(callMs, this.#line.opening);
    } catch (error) {
      if (isUnknownMethod(error)) return undefined;
      throw error;
    }
  }

  #dial(client: Client, callMs: number): Line {
    const line: Line = { client, opening: this.#open(client, callMs, (error) => this.#forget(line, error)) };
    line.opening.then(
      (call) => {
        // The connection was dropped while the call was opening.
        if (this.#line === line) line.call = call;
        else call.close();
      },
      (error: unknown) => this.#forget(line, error),
    );
    return line;
  }

  async #open(client: Client, callMs: number, ended: (error: Error) => void): Promise<BatchCall> {
    if (!(await listsBatchAppend(client, callMs))) throw new NoBatchCall();
    return BatchCall.open(client, ended);
  }

  #forget(line: Line, error: unknown): void {
    if (isUnknownMethod(error)) this.#withoutBatch.add(line.client);
    if (this.#line === line) this.#line = undefined;
  }

  #hangUp(): void {
    const line = this.#line;
    this.#line = undefined;
    line?.call?.close();
  }
}
