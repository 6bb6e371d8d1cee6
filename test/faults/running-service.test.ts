import { describe } from 'vitest';
import { postgresFaults } from './groups/postgres-faults.ts';
import { processFaults } from './groups/process-faults.ts';
import { clusteredInstallation } from './harness/clustered-installation.ts';
import { missing } from './harness/programs.ts';

const lacking = missing({ postgres: true, redis: true });

describe.skipIf(lacking)(`a service in four processes${lacking}`, () => {
  const installation = clusteredInstallation();

  describe('processes', () => processFaults(installation));
  describe('PostgreSQL', () => postgresFaults(installation));
});
