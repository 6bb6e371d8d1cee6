import type { Command } from 'commander';
import { removeDomain, vouchForDomain } from './organization-commands.ts';
import { performs, type CommandLine } from './operator-command.ts';

interface NamedDomain {
  readonly slug: string;
  readonly domain: string;
}

const named = (command: Command): Command =>
  command
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--domain <domain>', 'the e-mail domain');

export function addOrganizationDomainCommands(org: Command, cli: CommandLine): void {
  performs(
    cli,
    named(org.command('verify-domain')).description(
      'Mark an e-mail domain as verified for an organization that cannot prove it by DNS',
    ),
    'changes',
    async (output, { slug, domain }: NamedDomain) => {
      await cli.withApplication(({ services }) => vouchForDomain(services, { slug, domain }));
      output.say(`E-mails of ${domain} lead to the provider of ${slug}, if its configuration names the domain`);
      return { result: { organization: slug, domain } };
    },
  );
  performs(
    cli,
    named(org.command('remove-domain')).description('Remove an e-mail domain from an organization'),
    'changes',
    async (output, { slug, domain }: NamedDomain) => {
      await cli.withApplication(({ services }) => removeDomain(services, { slug, domain }));
      output.say(`E-mails of ${domain} no longer lead to ${slug}`);
      return { result: { organization: slug, domain } };
    },
    {
      question: ({ slug, domain }) =>
        `This takes the domain ${domain} from ${slug}: its admins can no longer sign in through the provider with such an e-mail.`,
    },
  );
}
