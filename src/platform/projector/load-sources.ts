import type { AggregateReader } from '../kernel/aggregate.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';

declare const isSource: unique symbol;
/** A source of a cached value: one stream, or one tenant's rows of one read model. */
export type Source = string & { readonly [isSource]: true };

export const streamSource = (stream: string): Source => `stream ${stream}` as Source;
export const tableSource = (model: string, tenantId: TenantId): Source => `table ${model} ${tenantId}` as Source;

export type CachedModel = Pick<AnyReadModel, 'name' | 'on' | 'scope'>;

/**
 * The only way in which a load reads. Every read is recorded, so a cached value cannot miss an event that changes it.
 */
export interface LoadSources {
  /** Folds streams. Any later event of such a stream drops the value. */
  readonly aggregates: AggregateReader;
  /**
   * Await this before the load queries these tables. Any later event of the tenant that one of these models folds
   * drops the value. Resolves when the tables include all events that this process knows of. If they lag, the value
   * is used once and not cached.
   */
  tables(models: readonly CachedModel[]): Promise<void>;
}

/** Records each stream before it is read, so that an event that arrives during the read is recognized. */
export const recordingReader = (aggregates: AggregateReader, read: (stream: string) => void): AggregateReader => ({
  load(aggregate, stream) {
    read(stream);
    return aggregates.load(aggregate, stream);
  },
});
