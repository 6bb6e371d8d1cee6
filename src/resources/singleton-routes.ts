import { admin } from '../http/access.ts';
import { route, type AnyRoute } from '../http/route.ts';
import { changesSchema, type AnyValues } from './fields.ts';
import { forgetSecrets } from './forget-secrets.ts';
import { inWords } from './names.ts';
import type { AnyDefinedSingleton } from './singleton.ts';
import { shownValues } from './views.ts';

/** `GET` shows the settings with their defaults, `PUT` merges and shows them again. */
export function singletonRoutes({ declared, view, read, update }: AnyDefinedSingleton): AnyRoute[] {
  const { path, access, noun, fields, showsEditor } = declared;
  const shown = (kept: AnyValues) => ({
    ...shownValues(fields, kept),
    updatedAt: kept['updatedAt'],
    ...(showsEditor ? { updatedBy: kept['updatedBy'] } : {}),
  });
  return [
    route({
      method: 'GET',
      path,
      access: admin(access.read),
      summary: `The ${inWords(noun)}`,
      answer: view,
      handle: async ({ ask }) => shown(await ask(read, undefined)),
    }),
    route({
      method: 'PUT',
      path,
      access: admin(access.write),
      summary: `Change the ${inWords(noun)}; what is left out stays`,
      body: changesSchema(fields),
      answer: view,
      handle: async ({ run, ask, body, principal, services }) => {
        const { result } = await run(update, body as AnyValues);
        await forgetSecrets(services, principal.tenantId, result.secretsGivenUp);
        return shown({ ...(await ask(read, undefined)), ...result.values });
      },
    }),
  ];
}
