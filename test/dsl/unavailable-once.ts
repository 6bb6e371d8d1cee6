import { vi } from 'vitest';
import type { Application } from '../../src/app/compose/compose.ts';
import { temporarilyUnavailable } from '../../src/platform/kernel/failure.ts';

type Execute = Application['services']['executor']['execute'];

/**
 * The next execution of this command finds its store away, or loses what the store replied. Returns the function that ends this,
 * however it went.
 */
export function unavailableOnce(
  executor: Application['services']['executor'],
  name: string,
  when: 'before' | 'after' = 'before',
): () => void {
  const execute = executor.execute.bind(executor);
  let isOver = false;
  const spy = vi.spyOn(executor, 'execute').mockImplementation((async (...call: Parameters<Execute>) => {
    if (isOver || call[0].name !== name) return execute(...call);
    isOver = true;
    if (when === 'after') await execute(...call);
    return temporarilyUnavailable();
  }) as Execute);
  return () => spy.mockRestore();
}
