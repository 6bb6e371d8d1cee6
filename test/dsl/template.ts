import pg from 'pg';
import { migrate } from '../../src/platform/database/migrate.ts';
import { migrateJobs } from '../../src/platform/jobs/postgres/schema.ts';

export const TEMPLATE = 'castellan_template';

/** The initial content of every test database; created once per run. */
export async function prepareTemplate(config: pg.ClientConfig): Promise<void> {
  await migrate(config);
  const owner = new pg.Pool({ ...config, max: 1 });
  try {
    await migrateJobs(owner);
  } finally {
    await owner.end();
  }
}
