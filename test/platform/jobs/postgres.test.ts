import { jobsContract } from '../../contracts/jobs.contract.ts';
import { freshDatabase } from '../../dsl/database.ts';

jobsContract('PostgreSQL', async () => {
  const { config, drop } = await freshDatabase();
  return { config, stop: drop };
});
