/** Replaces `seen-ids.ts`: an immutable value with a Set that is copied. */
export interface SeenIds {
  readonly size: number;
  readonly ids: ReadonlySet<string>;
}

export const noIds: SeenIds = { size: 0, ids: new Set() };

export function withIds(seen: SeenIds, added: readonly string[]): SeenIds {
  const ids = new Set([...seen.ids, ...added]);
  return { size: ids.size, ids };
}

export const hasId = ({ ids }: SeenIds, id: string): boolean => ids.has(id);
