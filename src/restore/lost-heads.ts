import { SealFile } from '../audit/seal-file.ts';
import { sealsInLog } from '../audit/seals.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

/** Takes heads out of the file beside the databases that the log does not hold (any more). Returns the furthest of each chain. */
export async function setAsideLostHeads({ config, store }: Pick<Services, 'config' | 'store'>): Promise<ReadonlyMap<TenantId, number>> {
  const file = new SealFile(config.dataDir);
  const end = await store.head();
  const dropped = new Map<TenantId, number>();
  for (const owner of file.owners()) {
    const held = new Set<unknown>();
    for await (const seal of sealsInLog(store, owner, end)) held.add((seal as { mac?: unknown } | undefined)?.mac);
    const gone = file.setAside(({ tenantId, mac }) => tenantId === owner && !held.has(mac)).map(({ sequence }) => sequence);
    if (gone.length > 0) dropped.set(owner, Math.max(...gone));
  }
  return dropped;
}
