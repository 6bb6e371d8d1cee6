import { vi } from 'vitest';
import type { Application } from '../../src/app/compose/compose.ts';
import { DatabaseTimeout } from '../../src/platform/database/unavailable.ts';

/** The next statement with this text is executed, and nobody gets its result. Returns the function that ends this. */
export function lostOnce({ database: { service } }: Application['services'], text: string): () => void {
  const inTime = service.inTime.bind(service);
  let isOver = false;
  const spy = vi.spyOn(service, 'inTime').mockImplementation(async (tenantId, sql, parameters) => {
    const done = await inTime(tenantId, sql, parameters);
    if (isOver || !sql.includes(text)) return done as never;
    isOver = true;
    throw new DatabaseTimeout(1);
  });
  return () => spy.mockRestore();
}
