import { SealFile } from '../../audit/seal-file.ts';
import { sealsInLog } from '../../audit/seals.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { EventStore } from '../../../platform/eventstore/port.ts';

export interface LostHeadsDependencies {
  readonly config: { readonly dataDir: string };
  readonly store: Pick<EventStore, 'head' | 'readStream'>;
}

/**
 * Chains with sealed heads in the file that the log does not contain, each with the highest such sequence. Changes
 * nothing.
 */
export async function lostHeads({ config, store }: LostHeadsDependencies): Promise<ReadonlyMap<TenantId, number>> {
  const file = new SealFile(config.dataDir);
  const lost = new Map<TenantId, number>();
  for (const owner of file.owners()) {
    const held = await macsInLog(store, owner);
    const sequences = file.sealsOf(owner).flatMap(({ mac, sequence }) => (held.has(mac) ? [] : [sequence ?? 0]));
    if (sequences.length > 0) lost.set(owner, Math.max(...sequences));
  }
  return lost;
}

/** Removes those heads from the file and returns them. */
export async function setAsideLostHeads(services: LostHeadsDependencies): Promise<ReadonlyMap<TenantId, number>> {
  const lost = await lostHeads(services);
  const file = new SealFile(services.config.dataDir);
  for (const owner of lost.keys()) {
    const held = await macsInLog(services.store, owner);
    file.setAside(({ tenantId, mac }) => tenantId === owner && !held.has(mac));
  }
  return lost;
}

async function macsInLog(store: LostHeadsDependencies['store'], owner: TenantId): Promise<ReadonlySet<unknown>> {
  const macs = new Set<unknown>();
  for await (const seal of sealsInLog(store, owner, await store.head()))
    macs.add((seal as { mac?: unknown } | undefined)?.mac);
  return macs;
}
