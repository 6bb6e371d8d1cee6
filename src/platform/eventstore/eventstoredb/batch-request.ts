import { randomUUID } from 'node:crypto';
import { shared, streams, type BatchAppendReq } from './protocol.ts';
import { documentsOf, type OutgoingEvent } from './outgoing-event.ts';

/** An append: these events directly after this revision, -1 for a stream that must not exist yet. */
export interface AppendRequest {
  readonly stream: string;
  readonly expected: bigint;
  readonly events: readonly OutgoingEvent[];
}

/**
 * Builds a single, final message: our appends are far smaller than the size at which messages must be split. It sets no
 * deadline, because the protocol only has a time of day for it, and a wrong clock would fail every append. The server
 * then applies its own limit (two seconds by default).
 */
export function batchRequest({ stream, expected, events }: AppendRequest): {
  correlationId: string;
  message: BatchAppendReq;
} {
  const correlationId = randomUUID();
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(bytes(Buffer.from(stream))));
  if (expected < 0n) options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const message = new streams.BatchAppendReq();
  message.setCorrelationId(new shared.UUID().setString(correlationId));
  message.setOptions(options);
  message.setProposedMessagesList(events.map(proposedMessage));
  message.setIsFinal(true);
  return { correlationId, message };
}

function proposedMessage(event: OutgoingEvent) {
  const { data, metadata } = documentsOf(event);
  const message = new streams.BatchAppendReq.ProposedMessage();
  message.setId(new shared.UUID().setString(event.id));
  message.getMetadataMap().set('type', event.type).set('content-type', event.contentType);
  message.setData(bytes(data));
  if (metadata) message.setCustomMetadata(bytes(metadata));
  return message;
}

/** The messages do not accept a Buffer for bytes, although it is a Uint8Array. */
const bytes = (buffer: Buffer): Uint8Array => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/** The server returns an id in the form in which it was sent, or as two signed 64-bit halves. */
export function correlationIdOf(id: InstanceType<typeof shared.UUID> | undefined): string {
  const halves = id?.getStructured();
  if (!halves) return id?.getString().toLowerCase() ?? '';
  const octets = Buffer.alloc(16);
  octets.writeBigInt64BE(BigInt(halves.getMostSignificantBits()), 0);
  octets.writeBigInt64BE(BigInt(halves.getLeastSignificantBits()), 8);
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
