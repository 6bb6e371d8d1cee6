import { describe } from 'vitest';
import { linkFaults } from './groups/link-faults.ts';
import { redisFaults } from './groups/redis-faults.ts';
import { clusteredInstallation } from './harness/clustered-installation.ts';
import { missing } from './harness/programs.ts';

const lacking = missing({ postgres: true, redis: true });

describe.skipIf(lacking)(`the connections of a service in four processes${lacking}`, () => {
  const installation = clusteredInstallation();

  describe('the link to PostgreSQL', () => linkFaults(installation));
  describe('Redis', () => redisFaults(installation));
});
