import type { StoredEvent } from '../../../platform/eventstore/port.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { hashedContentOf, type TenantHashes } from './tenant-hashes.ts';

/** The target returned an event that differs from the one written. The installation must not switch to this copy. */
export class CopyDiffers extends Error {
  constructor(event: StoredEvent) {
    super(`the copy differs from the log at ${event.stream}@${event.revision} (position ${event.position} of the log)`);
    this.name = 'CopyDiffers';
  }
}

/**
 * Compares events with those that the target returns, one by one. Returns the positions of lasting events in both logs.
 */
export function checkPage(
  events: readonly StoredEvent[],
  written: readonly StoredEvent[],
  hashes: TenantHashes,
  isLasting: (type: string) => boolean,
): (readonly [Position, Position])[] {
  const positions: (readonly [Position, Position])[] = [];
  for (const [at, event] of events.entries()) {
    const copy = written[at];
    const content = hashedContentOf(event);
    if (!copy || hashedContentOf(copy) !== content) throw new CopyDiffers(event);
    hashes.add(event.tenantId, content);
    if (isLasting(event.type)) positions.push([event.position, copy.position]);
  }
  return positions;
}
