import { randomUUID } from 'node:crypto';
import { END } from '@eventstore/db-client';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import type { StreamReader } from './stream-reader.ts';
import type { StreamWriter } from './stream-writer.ts';

export interface StoreAccess {
  readonly reader: StreamReader;
  readonly writer: StreamWriter;
  readonly patience: OperationTimeouts;
}

/** Changes one key of a stream's metadata and keeps the others, which may include access rights. */
export async function setStreamMetadata(
  { reader, writer, patience: timeoutMs }: StoreAccess,
  stream: string,
  key: '$maxAge' | '$maxCount' | '$tb',
  value: number,
): Promise<void> {
  const deadline = new Deadline(timeoutMs);
  for (;;) {
    const [last] = await reader.backwards(`$$${stream}`, END, 1, deadline);
    if (last && !last.isJson) throw new Error(`the metadata of ${stream} is not JSON`);
    const metadata = (last?.data ?? {}) as Record<string, unknown>;
    if (metadata[key] === value) return;
    // A deleted stream's `$tb` exceeds JavaScript's safe integers.
    const { $tb } = metadata;
    if ($tb !== undefined && !Number.isSafeInteger($tb)) throw new Error(`${stream} has been deleted`);
    const event = {
      id: randomUUID(),
      contentType: 'application/json' as const,
      type: '$metadata',
      data: { ...metadata, [key]: value },
      metadata: undefined,
    };
    const outcome = await writer.write(`$$${stream}`, last?.revision ?? -1n, [event], deadline);
    if (outcome.kind === 'written') return;
  }
}
