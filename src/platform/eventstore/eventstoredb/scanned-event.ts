import type streamsMessages from '@eventstore/db-client/generated/streams_pb.js';

type Message = InstanceType<typeof streamsMessages.ReadResp.ReadEvent.RecordedEvent>;

/** The server counts 100 ns, so a time in milliseconds has four digits less. */
const TICK_DIGITS = 4;

/**
 * An event of a scan, with the same members as the client's events. Its data is parsed on demand: most readers want few
 * types.
 */
export class ScannedEvent {
  readonly #message: Message;
  readonly id: string;
  readonly type: string;
  readonly streamId: string;
  readonly isJson: boolean;
  readonly position: { readonly commit: bigint; readonly prepare: bigint };
  readonly metadata: unknown;
  #data: unknown;
  #isParsed = false;

  constructor(message: Message) {
    this.#message = message;
    this.id = message.getId()!.getString();
    this.type = message.getMetadataMap().get('type') ?? '';
    this.isJson = message.getMetadataMap().get('content-type') === 'application/json';
    this.streamId = textOf(message.getStreamIdentifier()!.getStreamName_asU8());
    const [commit, prepare] = [message.getCommitPosition(), message.getPreparePosition()];
    const position = BigInt(commit);
    this.position = { commit: position, prepare: commit === prepare ? position : BigInt(prepare) };
    this.metadata = parsed(message.getCustomMetadata_asU8());
  }

  get revision(): bigint {
    return BigInt(this.#message.getStreamRevision());
  }

  get created(): Date {
    return new Date(Number((this.#message.getMetadataMap().get('created') ?? '').slice(0, -TICK_DIGITS)));
  }

  get data(): unknown {
    if (!this.#isParsed) {
      const bytes = this.#message.getData_asU8();
      this.#data = this.isJson ? (parsed(bytes) ?? textOf(bytes)) : bytes;
      this.#isParsed = true;
    }
    return this.#data;
  }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

/** Undefined for anything but JSON: a shared server may hold other data. */
function parsed(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(textOf(bytes));
  } catch {
    return undefined;
  }
}
