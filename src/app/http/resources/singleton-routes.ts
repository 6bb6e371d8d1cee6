import { admin, adminReauthenticatedWhere } from '../access.ts';
import { routeWith, type AnyRoute } from '../route.ts';
import type { AnyValues } from '../../../platform/resources/fields.ts';
import { inWords } from '../../../platform/resources/names.ts';
import { withRule } from '../../../platform/resources/field-rule.ts';
import { bodySchema } from '../../../platform/resources/schemas.ts';
import type { AnyDefinedSingleton } from '../../../platform/resources/singleton.ts';
import { settingsView, taggedOf } from '../../../platform/resources/views.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../platform/vault/vault.ts';

export interface SingletonRoutesDependencies {
  readonly log: Logger;
  readonly vault: Vault;
}

const route = routeWith<SingletonRoutesDependencies>();

/** `GET` returns the settings with their defaults. `PUT` merges changes and returns the settings. */
export function singletonRoutes({
  declared,
  view,
  read,
  update,
}: AnyDefinedSingleton): AnyRoute<SingletonRoutesDependencies>[] {
  const { path, access } = declared;
  const noun = inWords(declared.noun);
  const tagged = (shown: AnyValues) => taggedOf(declared, shown);
  return [
    route({
      method: 'GET',
      path,
      access: admin(access.read),
      summary: `Get the ${noun}`,
      response: view,
      tagged,
      handle: async ({ ask }) => settingsView(declared, await ask(read, undefined)),
    }),
    route({
      method: 'PUT',
      path,
      access: declared.watch
        ? adminReauthenticatedWhere(access.write, declared.watch.silencedWhere)
        : admin(access.write),
      summary: `Change the ${noun}`,
      description: 'Fields that are left out keep their values.',
      body: withRule(bodySchema(declared.fields, 'change'), declared),
      response: view,
      tagged,
      handle: async ({ run, ask, body, principal: { reauthenticated } }) => {
        const { result } = await run(update, { changes: body, reauthenticated });
        // The read side may be behind, so the response shows the values that were decided.
        return settingsView(declared, { ...(await ask(read, undefined)), ...result.values });
      },
    }),
  ];
}
