import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DirectoryFailed } from '../domain/directory-reader.ts';

/** The largest LDAP message: a group entry with about 100,000 members. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Bytes of the message that begins here, tag and length included; undefined while the length is incomplete. */
function messageSize(buffer: Buffer): number | undefined {
  if (buffer.length < 2) return undefined;
  if (buffer[0] !== 0x30) throw new DirectoryFailed('the server does not speak LDAP');
  const first = buffer[1]!;
  if (first < 0x80) return 2 + first;
  const octets = first & 0x7f;
  // RFC 4511 §5.1: definite lengths only.
  if (octets === 0 || octets > 4) throw new DirectoryFailed('the server sent a malformed message');
  return buffer.length < 2 + octets ? undefined : 2 + octets + buffer.readUIntBE(2, octets);
}

/** Cuts a stream of bytes into LDAP messages, without copying a byte twice. */
export class MessageFramer {
  #chunks: Buffer[] = [];
  #pending = 0;
  #wanted: number | undefined;

  get isEmpty(): boolean {
    return this.#pending === 0;
  }

  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#pending += chunk.length;
    for (;;) {
      this.#wanted ??= this.#pending >= 2 ? this.#sizeOfNext() : undefined;
      if (this.#wanted === undefined || this.#pending < this.#wanted) return;
      const all = this.#joined();
      const message = all.subarray(0, this.#wanted);
      this.#chunks = all.length > this.#wanted ? [all.subarray(this.#wanted)] : [];
      this.#pending -= this.#wanted;
      this.#wanted = undefined;
      yield message;
    }
  }

  #sizeOfNext(): number | undefined {
    const size = messageSize(this.#chunks[0]!.length >= 6 ? this.#chunks[0]! : this.#joined());
    if (size !== undefined && size > MAX_MESSAGE_BYTES)
      throw new DirectoryFailed('the server sent too large a message');
    return size;
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    const all = this.#chunks.length === 1 ? only! : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

/** What may arrive in response to one request. */
export interface ResponseBudget {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * A connection as ldapts expects it, which hands over one whole message at a time. ldapts itself joins and parses
 * whatever arrives: a hostile server could make it recurse without end, or keep unlimited data in memory.
 */
export class FramedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #framer = new MessageFramer();
  #budget: { messages: number; bytes: number } = { messages: 16, bytes: MAX_MESSAGE_BYTES };
  /** ldapts asks both before it uses a connection that is open already. */
  readonly connecting = false;
  readonly readyState = 'open';
  /** Why the connection ended. */
  failure: DirectoryFailed | undefined;

  constructor(socket: Socket) {
    super({ readableObjectMode: true, allowHalfOpen: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => this.#fail(new DirectoryFailed('the connection to the directory was lost')));
    socket.on('end', () => this.#fail(new DirectoryFailed('the directory closed the connection')));
    socket.on('close', () => this.destroy());
  }

  /** Call before each request. More messages or bytes than these end the connection. */
  expect({ messages, bytes }: ResponseBudget): void {
    this.#budget = { messages, bytes };
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return;
    try {
      this.#budget.bytes -= chunk.length;
      if (this.#budget.bytes < 0) throw new DirectoryFailed('the directory sent more than was asked for');
      for (const message of this.#framer.push(chunk)) {
        this.#budget.messages -= 1;
        if (this.#budget.messages < 0) throw new DirectoryFailed('the directory sent more than was asked for');
        this.push(message);
      }
    } catch (error) {
      this.#fail(error instanceof DirectoryFailed ? error : new DirectoryFailed('the server sent a malformed message'));
    }
  }

  #fail(reason: DirectoryFailed): void {
    this.failure ??= reason;
    this.destroy();
  }

  override _read(): void {
    // Messages are pushed as they arrive: the budget bounds how many.
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
