import type { EventStore } from '../../platform/eventstore/port.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { ChainKey } from './domain/chain-key.ts';
import type { SealedHead } from './domain/sealed-head.ts';
import type { FiledSeal } from './filed-seals.ts';
import { genuineSeal, sealsInLog, textOfSeal } from './seals.ts';

export interface SealedLog {
  readonly key: ChainKey;
  readonly store: Pick<EventStore, 'head' | 'readStream'>;
}

/**
 * Why a chain must not be continued in the file: another seal after these would hide what they show. A seal is written
 * to the log first, so that the newest one in the file must be in the log as it is, wherever the log has come to since:
 * that of another copy of the database has other entries below it.
 *
 * `inLog`: the newest seal in the log, which is the newest in the file as a rule. Otherwise the log is searched.
 */
export async function filedSealFault(
  { key, store }: SealedLog,
  tenantId: TenantId,
  filed: readonly FiledSeal[],
  inLog: SealedHead,
): Promise<string | undefined> {
  if (filed.some((seal) => !genuineSeal(key, tenantId, seal))) return 'a seal in the file was changed';
  const newest = filed.at(-1);
  if (!newest) return undefined;
  return (await isInLog(store, tenantId, newest, inLog)) ? undefined : 'the log lacks a seal that is in the file';
}

async function isInLog(
  store: SealedLog['store'],
  tenantId: TenantId,
  newest: FiledSeal,
  inLog: SealedHead,
): Promise<boolean> {
  if (newest.sequence > inLog.sequence) return false;
  const text = textOfSeal(newest);
  if (text === textOfSeal(inLog)) return true;
  for await (const seal of sealsInLog(store, tenantId, await store.head())) if (textOfSeal(seal) === text) return true;
  return false;
}
