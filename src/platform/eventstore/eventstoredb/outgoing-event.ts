import type { JSONEventData } from '@eventstore/db-client';

/** An event to send. If its JSON texts are at hand, they are sent unchanged. */
export interface OutgoingEvent extends JSONEventData {
  readonly texts?: { readonly data: string; readonly metadata: string };
}

/** Data and metadata of an event as the server stores them. Metadata may be absent. */
export function documentsOf({ texts, data, metadata }: OutgoingEvent): { data: Buffer; metadata: Buffer | undefined } {
  if (texts) return { data: Buffer.from(texts.data), metadata: Buffer.from(texts.metadata) };
  return {
    data: Buffer.from(JSON.stringify(data)),
    metadata: metadata === undefined ? undefined : Buffer.from(JSON.stringify(metadata)),
  };
}
