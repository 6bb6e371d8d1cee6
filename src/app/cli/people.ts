import type { Command } from 'commander';
import { erasePersonAsOperator, findPersonAsOperator } from './employees.ts';
import { performs, type CommandLine, type Granted } from './operator-command.ts';

interface NamedPerson extends Granted {
  readonly tenant: string;
  readonly person: string;
}

export function addPeopleCommands(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('person')
      .description('Handle the rights of monitored people')
      .command('erase')
      .description('Destroy the key that seals all personal data of an employee; this cannot be undone')
      .requiredOption('--tenant <id|slug>', 'the tenant')
      .requiredOption('--person <id|email>', 'the employee'),
    'changes',
    async (output, { tenant, person, dryRun }: NamedPerson) => {
      if (dryRun) {
        const found = await cli.withApplication(({ services }) => findPersonAsOperator(services, { tenant, person }));
        output.say(`Would erase ${found.userId} of tenant ${found.tenantId} (${found.status}). Nothing was changed.`);
        return { result: { ...found, erased: false } };
      }
      const erased = await cli.withApplication(({ services }) => erasePersonAsOperator(services, { tenant, person }));
      output.say(`Erased ${erased.userId}`);
      return { result: { ...erased, erased: true } };
    },
    {
      question: ({ tenant, person }) =>
        `This destroys the key of all personal data of ${person} in tenant ${tenant}. It cannot be undone, except from a backup of the keys.`,
      dryRun: 'show who would be erased, and change nothing',
    },
  );
}
