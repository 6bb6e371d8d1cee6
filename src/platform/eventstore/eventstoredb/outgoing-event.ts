import type { JSONEventData } from '@eventstore/db-client';

/** An event on its way to the server. Where its JSON texts are at hand, they are sent as they are. */
export interface OutgoingEvent extends JSONEventData {
  readonly texts?: { readonly data: string; readonly metadata: string };
}

/** The two documents of an event as the server keeps them. Metadata may be absent. */
export function documentsOf({ texts, data, metadata }: OutgoingEvent): { data: Buffer; metadata: Buffer | undefined } {
  if (texts) return { data: Buffer.from(texts.data), metadata: Buffer.from(texts.metadata) };
  return {
    data: Buffer.from(JSON.stringify(data)),
    metadata: metadata === undefined ? undefined : Buffer.from(JSON.stringify(metadata)),
  };
}
