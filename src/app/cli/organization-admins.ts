import type { Command } from 'commander';
import { recoverOrgAdminAsOperator, suspendOrgAdminAsOperator, type NamedOrgAdmin } from './organization-commands.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { email } from './option-values.ts';

const named = (command: Command): Command =>
  command
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--email <email>', 'e-mail of the admin', email);

export function addOrganizationAdminCommands(org: Command, cli: CommandLine): void {
  performs(
    cli,
    named(org.command('recover')).description(
      'Recover the account of an organization admin; the temporary password is printed on the last line',
    ),
    'changes',
    async (output, { slug, email: admin }: NamedOrgAdmin) => {
      const { password, liftedSso } = await cli.withApplication(({ services }) =>
        recoverOrgAdminAsOperator(services, { slug, email: admin }),
      );
      if (liftedSso)
        output.say(`${slug} no longer requires single sign-on: all of its admins can sign in with passwords`);
      output.say(`${admin} no longer has a second factor. Temporary password, valid for seven days and one sign-in:`);
      output.say(password);
      return { result: { organization: slug, email: admin, liftedSso, temporaryPassword: password } };
    },
    {
      question: ({ slug, email: admin }) =>
        `This replaces the password of ${admin}, removes the second factor, and lifts the single sign-on requirement of ${slug}.`,
    },
  );
  performs(
    cli,
    named(org.command('suspend')).description(
      'Suspend an organization admin and end their sessions; not the last active owner',
    ),
    'changes',
    async (output, { slug, email: admin }: NamedOrgAdmin) => {
      await cli.withApplication(({ services }) => suspendOrgAdminAsOperator(services, { slug, email: admin }));
      output.say(`${admin} is suspended`);
      return { result: { organization: slug, email: admin } };
    },
    { question: ({ slug, email: admin }) => `This suspends ${admin} of ${slug} and ends all sessions of that admin.` },
  );
}
