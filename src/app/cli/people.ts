import type { Command } from 'commander';
import { erasePersonAsOperator } from './employees.ts';
import type { WithApplication } from './application.ts';

export function addPeopleCommands(program: Command, withApplication: WithApplication): void {
  program
    .command('person')
    .description('Handle the rights of monitored people')
    .command('erase')
    .description('Destroy the key that seals all personal data of an employee; this cannot be undone')
    .requiredOption('--tenant <id|slug>')
    .requiredOption('--person <id|email>')
    .action(async ({ tenant, person }: { tenant: string; person: string }) => {
      const { userId } = await withApplication(({ services }) => erasePersonAsOperator(services, { tenant, person }));
      console.log(`Erased ${userId}`);
    });
}
