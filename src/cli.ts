import { Command } from 'commander';
import { ConfigError } from './config-error.ts';
import { addAuditCommands } from './cli/audit.ts';
import { addDatabaseCommands } from './cli/database.ts';
import { addDemoCommand } from './cli/demo.ts';
import { addEventStoreCommands } from './cli/eventstore.ts';
import { wordsFor, withHouse } from './cli/house.ts';
import { addLicenseCommands } from './cli/license.ts';
import { addLogCommands } from './cli/log.ts';
import { addMasterKeyCommands } from './cli/master-key.ts';
import { addOrganizationCommands } from './cli/organizations.ts';
import { addPeopleCommands } from './cli/people.ts';
import { addProjectionCommands } from './cli/projections.ts';
import { addRestoreCommands } from './cli/restore.ts';
import { addTenantCommands } from './cli/tenants.ts';
import { WrongMasterKey } from './vault/keyrings.ts';
import { version } from './version.ts';

const program = new Command('castellan')
  .description('Operates a Castellan installation')
  .version(version)
  .showSuggestionAfterError();

addLicenseCommands(program);
addTenantCommands(program, withHouse);
addOrganizationCommands(program, withHouse);
addPeopleCommands(program, withHouse);
addProjectionCommands(program, withHouse);
addAuditCommands(program, withHouse);
addRestoreCommands(program, withHouse);
addMasterKeyCommands(program, withHouse);
addDatabaseCommands(program);
addEventStoreCommands(program);
addLogCommands(program);
addDemoCommand(program);

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(
    `castellan: ${error instanceof ConfigError || error instanceof WrongMasterKey ? error.message : wordsFor(error)}\n`,
  );
  process.exitCode = 1;
});
