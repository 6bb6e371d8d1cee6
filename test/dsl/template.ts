import type pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';

export const TEMPLATE = 'castellan_template';

/** What every test database starts with; done once a run. */
export async function prepareTemplate(config: pg.ClientConfig): Promise<void> {
  await migrate(config);
}
