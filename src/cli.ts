import { Command } from 'commander';
import { ConfigError } from './platform/config-error.ts';
import { addAuditCommands } from './app/cli/audit.ts';
import { addDatabaseCommands } from './app/cli/database.ts';
import { addDemoCommand } from './app/cli/demo.ts';
import { addDoctorCommand } from './app/cli/doctor.ts';
import { addEventStoreCommands } from './app/cli/eventstore.ts';
import { describeError, withApplication } from './app/cli/application.ts';
import { addKeysCommands } from './app/cli/keys.ts';
import { addLicenseCommands } from './app/cli/license.ts';
import { addLogCommands } from './app/cli/log.ts';
import { addMasterKeyCommands } from './app/cli/master-key.ts';
import { addOrganizationCommands } from './app/cli/organizations.ts';
import { addPeopleCommands } from './app/cli/people.ts';
import { addProjectionCommands } from './app/cli/projections.ts';
import { addRestoreCommands } from './app/cli/restore.ts';
import { addTenantCommands } from './app/cli/tenants.ts';
import { WrongMasterKey } from './platform/vault/keyrings.ts';
import { version } from './platform/version.ts';

const program = new Command('castellan')
  .description('Operates a Castellan installation')
  .version(version)
  .showSuggestionAfterError();

addKeysCommands(program);
addLicenseCommands(program);
addTenantCommands(program, withApplication);
addOrganizationCommands(program, withApplication);
addPeopleCommands(program, withApplication);
addProjectionCommands(program, withApplication);
addAuditCommands(program, withApplication);
addRestoreCommands(program, withApplication);
addMasterKeyCommands(program, withApplication);
addDatabaseCommands(program);
addEventStoreCommands(program);
addLogCommands(program);
addDoctorCommand(program);
addDemoCommand(program);

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(
    `castellan: ${error instanceof ConfigError || error instanceof WrongMasterKey ? error.message : describeError(error)}\n`,
  );
  process.exitCode = 1;
});
